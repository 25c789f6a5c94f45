select '{{ get_node() }}' as word, '{{ escape() }}' as escaped
