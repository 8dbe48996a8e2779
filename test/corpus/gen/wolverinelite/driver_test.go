package wolverinelite

import _ "modernc.org/sqlite" // runs the conformance test
