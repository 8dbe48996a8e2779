package valuespg

import _ "github.com/jackc/pgx/v5/stdlib" // runs the conformance test
