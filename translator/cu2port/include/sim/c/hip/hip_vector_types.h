/* HIP's name of the same. */
#include "../vector_types.h"
