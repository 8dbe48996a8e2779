package parcelsq

import "testing"

// The test of the package fills columns whose checks allow few values, and asks for jobs that
// it has added: of no kind that it names.
func TestProof(t *testing.T) {
	t.Setenv("PARCELSQ_TEST_DSN", database(t))
	TestConformance(t)
}
