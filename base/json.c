/* SPDX-License-Identifier: ISC */
/* The one place where json.h is more than declarations. */
#define JSON_IMPLEMENTATION
#include "json.h"
