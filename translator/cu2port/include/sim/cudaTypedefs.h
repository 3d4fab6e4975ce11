// Types of pointers to the driver's functions. HIP has no such header, and `convert` leaves it to a person (CU108): a
// program that includes it and uses none of them builds.
#pragma once
