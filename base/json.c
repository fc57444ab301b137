/* SPDX-License-Identifier: ISC */
/* The implementation of json.h; every other file gets only declarations. */
#define JSON_IMPLEMENTATION
#include "json.h"
