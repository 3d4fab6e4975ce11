"""Headers of rocThrust, by the names that they declare."""

from __future__ import annotations

#: What of Thrust NVIDIA's other Thrust headers bring along, and rocThrust's do not.
OF_THRUST = {
    word: f"thrust/{header}.h"
    for header, words in {
        "adjacent_difference": "adjacent_difference",
        "binary_search": "lower_bound upper_bound binary_search equal_range",
        "copy": "copy copy_if copy_n",
        "count": "count count_if",
        "device_delete": "device_delete",
        "device_free": "device_free",
        "device_malloc": "device_malloc",
        "device_new": "device_new",
        "device_ptr": "device_ptr device_pointer_cast",
        "device_vector": "device_vector",
        "execution_policy": "device host seq",
        "extrema": "max_element min_element minmax_element",
        "fill": "fill fill_n",
        "for_each": "for_each for_each_n",
        "gather": "gather gather_if",
        "host_vector": "host_vector",
        "inner_product": "inner_product",
        "iterator/constant_iterator": "constant_iterator make_constant_iterator",
        "iterator/counting_iterator": "counting_iterator make_counting_iterator",
        "iterator/discard_iterator": "discard_iterator make_discard_iterator",
        "iterator/permutation_iterator": "permutation_iterator make_permutation_iterator",
        "iterator/reverse_iterator": "reverse_iterator make_reverse_iterator",
        "iterator/transform_iterator": "transform_iterator make_transform_iterator",
        "iterator/zip_iterator": "zip_iterator make_zip_iterator",
        "logical": "all_of any_of none_of",
        "merge": "merge merge_by_key",
        "partition": "partition stable_partition partition_copy",
        "reduce": "reduce reduce_by_key",
        "remove": "remove remove_if remove_copy remove_copy_if",
        "scan": "inclusive_scan exclusive_scan inclusive_scan_by_key exclusive_scan_by_key",
        "scatter": "scatter scatter_if",
        "sequence": "sequence",
        "set_operations": "set_difference set_intersection set_union",
        "sort": "sort sort_by_key stable_sort stable_sort_by_key",
        "tabulate": "tabulate",
        "transform": "transform transform_if",
        "transform_reduce": "transform_reduce",
        "transform_scan": "transform_inclusive_scan transform_exclusive_scan",
        "unique": "unique unique_by_key unique_copy",
    }.items()
    for word in words.split()
}
