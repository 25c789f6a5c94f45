"""Wide and cyclic graphs (DESIGN 3.10, RULES 2.11)."""

import pytest

LAYERS, WIDTH = 12, 30


def model(warehouse, name, *upstream):
    return warehouse.state(f"model.shop.{name}", {"name": name, "depends_on": [f"model.shop.{one}" for one in upstream]})


@pytest.mark.case("G9")
def test_through_layers_that_each_read_the_whole_layer_before_every_pair_comes_once_with_its_shortest_distance(warehouse):
    for layer in range(LAYERS):
        for place in range(WIDTH):
            model(warehouse, f"m_{layer}_{place}", *(f"m_{layer - 1}_{one}" for one in range(WIDTH) if layer))
    warehouse.build()
    pairs = warehouse.view("lineage_closure", principal="analyst")
    distances = {(row["upstream_id"], row["downstream_id"]): row["shortest_distance"] for row in pairs}
    assert len(pairs) == len(distances) == WIDTH * WIDTH * LAYERS * (LAYERS - 1) // 2
    assert all(distance == int(down.split("_")[1]) - int(up.split("_")[1]) for (up, down), distance in distances.items())
    upstream = warehouse.call("trace_lineage", "m_11_0", principal="analyst")
    assert len(upstream) == WIDTH + (LAYERS - 2) * WIDTH * WIDTH == len({(row["upstream_id"], row["downstream_id"]) for row in upstream})
    downstream = {row["downstream_id"] for row in warehouse.call("impact", "m_0_0", principal="analyst")}
    assert len(downstream) == (LAYERS - 1) * WIDTH
    assert warehouse.view("lineage_closure", principal="stranger") == []


@pytest.mark.case("G9")
def test_a_cycle_ends_and_a_shorter_way_counts(warehouse):
    model(warehouse, "a", "c")
    model(warehouse, "b", "a")
    model(warehouse, "c", "b", "a")
    model(warehouse, "d", "c")
    warehouse.build()
    pairs = {(row["upstream_id"][-1], row["downstream_id"][-1]): row["shortest_distance"] for row in warehouse.view("lineage_closure", principal="analyst")}
    assert pairs == {
        ("c", "a"): 1, ("b", "a"): 2, ("a", "b"): 1, ("c", "b"): 2, ("a", "c"): 1, ("b", "c"): 1, ("c", "d"): 1, ("a", "d"): 2, ("b", "d"): 2,
    }  # fmt: skip
    for direction in ("upstream", "downstream"):
        edges = [(row["upstream_id"], row["downstream_id"]) for row in warehouse.call("trace_lineage", "model.a", direction=direction, principal="analyst")]
        assert len(edges) == len(set(edges)) == {"upstream": 4, "downstream": 5}[direction]


@pytest.mark.case("G9")
def test_a_pair_is_not_seen_through_what_is_hidden(warehouse):
    model(warehouse, "open_end")
    warehouse.state("model.shop.closed", {"name": "closed", "depends_on": ["model.shop.open_end"], "meta": {"provenance_allow": "nobody"}})
    model(warehouse, "start", "closed")
    warehouse.build()
    assert warehouse.view("lineage_closure", principal="analyst") == []
