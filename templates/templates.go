// Package templates holds one folder per dialect: dialect.yaml with the facts
// about the server, each with its source, and one .sql.tmpl for every
// statement. It knows nothing of Go packages or queues.
package templates

import "embed"

// FS holds every dialect's folder.
//
//go:embed */*.yaml */*.tmpl
var FS embed.FS
