#pragma once
#include "fragments.h"
