package config

import _ "embed" // the JSON Schema is embedded

// Schema is the JSON Schema of qgen.yaml, for editors.
//
//go:embed qgen.schema.json
var Schema []byte
