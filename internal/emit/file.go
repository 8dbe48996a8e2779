// Package emit writes a plan down: Go source, SQL files, index advice. It makes
// no decisions; everything it prints stands in plan.Package.
package emit

// File is one file of an emitted package.
type File struct {
	Path string // relative to the config file, with slashes
	Data []byte
}
