/* The reference stands in an element of HTML: that of the library is none. */
'use strict';

globalThis.Redoc.init('/openapi.json', {}, document.getElementById('reference'));
