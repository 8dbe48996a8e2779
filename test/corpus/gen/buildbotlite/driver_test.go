package buildbotlite

import _ "modernc.org/sqlite" // runs the conformance test
