"""Which definition of this number applied on that date, who says so, and may this person see it.

Nothing heavy is imported here: dbt Core imports every installed module whose name begins with dbt_ at each start.
"""

__version__ = "0.1.0"
