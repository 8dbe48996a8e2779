// Package wire is what the scripted servers below it share, and what the tests share
// that run against them. It lets clients in, answers their requests by a script or a
// function, and tells what did not come as it was expected. What a request is and how
// it stands on the wire, each server knows.
package wire
