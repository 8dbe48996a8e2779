package generate

import (
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/qgen-dev/qgen/internal/config"
	"github.com/qgen-dev/qgen/internal/dialect"
	"github.com/qgen-dev/qgen/internal/emit"
	"github.com/qgen-dev/qgen/internal/plan"
	"github.com/qgen-dev/qgen/internal/queue"
	"github.com/qgen-dev/qgen/internal/schema"
	"github.com/qgen-dev/qgen/internal/source"
)

// Package is one package to be emitted.
type Package struct {
	Queue   *config.Queue // the entry that asks for it
	Plan    *plan.Package
	Dialect *dialect.Dialect
}

// BugError says that qgen itself made something wrong of right input.
type BugError struct {
	Path string // of the emitted file
	Err  error
}

// Error names the file and what is wrong with it.
func (e *BugError) Error() string { return fmt.Sprintf("%s: %v", e.Path, e.Err) }

// Unwrap returns what is wrong with the file.
func (e *BugError) Unwrap() error { return e.Err }

// NoQueueError says that a queue was asked for that is not there.
type NoQueueError struct {
	Name  string
	Known []string
}

// Error names the queue and what it may have been mistaken for.
func (e *NoQueueError) Error() string {
	if near := source.Nearest(e.Name, e.Known); near != "" {
		return fmt.Sprintf("there is no queue %q; did you mean %s?", e.Name, near)
	}
	return fmt.Sprintf("there is no queue %q (have %s)", e.Name, strings.Join(e.Known, ", "))
}

// Plan plans the packages of the named queues, of all when there are no names,
// in the order of the configuration. Complaints about the input go to errs.
func (p *Project) Plan(names []string, errs *source.ErrorList) ([]*Package, error) {
	catalogs := p.catalogs(errs)
	entries := make([]planned, len(p.Config.Queues))
	cpus := runtime.GOMAXPROCS(0)
	parallel(cpus, len(entries), func(i int) {
		entries[i] = bind(p.Config.Queues[i], catalogs[p.Config.Queues[i]], names)
	})
	beside(entries)
	alone, later := inTurn(entries)
	parallel(cpus, len(alone), func(i int) { alone[i].plan(names, nil) })
	for _, e := range later {
		e.plan(names, entries)
	}
	var packages []*Package
	var known []string
	for _, e := range entries {
		known = append(known, e.known...)
		packages = append(packages, e.packages...)
		errs.Add(e.errs.All()...)
	}
	for _, name := range names {
		if !slices.Contains(known, name) && errs.Len() == 0 {
			slices.Sort(known)
			return nil, &NoQueueError{Name: name, Known: slices.Compact(known)}
		}
	}
	folders(packages, errs)
	p.all = len(names) == 0
	return packages, nil
}

// planned is what became of one entry of the configuration.
type planned struct {
	queue    *config.Queue
	specs    []*queue.Spec
	packages []*Package
	plans    []*plan.Package // of specs, nil of those that nobody asks for and of wrong ones
	known    []string        // the names of its queues
	errs     source.ErrorList
}

// catalogs reads the DDL of every entry, the same files only once. An entry
// whose engine is unknown or whose files cannot be read has none.
func (p *Project) catalogs(errs *source.ErrorList) map[*config.Queue]*schema.Catalog {
	files := map[string]*source.File{}
	read := func(name string) (*source.File, error) {
		if f, ok := files[name]; ok {
			return f, nil
		}
		f, err := p.readDDL(name)
		if err != nil {
			return nil, err
		}
		// Lines are counted on first use; later on the file is read by many.
		f.Pos(0, 0).Line()
		files[name] = f
		return f, nil
	}
	p.Config.File.Pos(0, 0).Line()
	known := map[string]*schema.Catalog{}
	catalogs := map[*config.Queue]*schema.Catalog{}
	for _, q := range p.Config.Queues {
		d, ok := dialect.Lookup(q.Engine.Value)
		if !ok {
			e := errs.Errorf(q.Engine.Pos, "engine %q is not known", q.Engine.Value)
			hint := "Known are: " + strings.Join(dialect.Engines(), ", ") + "."
			if near := source.Nearest(q.Engine.Value, dialect.Engines()); near != "" {
				hint = "Did you mean " + near + "? " + hint
			}
			e.WithHint("%s", hint)
			continue
		}
		key := d.Grammar
		for _, pattern := range q.Schema {
			key += "\x00" + pattern.Value
		}
		if known[key] == nil {
			before := errs.Len()
			ddl := p.ddlFiles(q.Schema, read, errs)
			if errs.Len() > before {
				continue
			}
			catalog, err := schema.Read(d.Grammar, ddl, errs)
			if err != nil {
				errs.Errorf(q.Engine.Pos, "%s cannot be read: %s", q.Engine.Value, err)
				continue
			}
			known[key] = catalog
		}
		catalogs[q] = known[key]
	}
	return catalogs
}

// bind reads the queues of one entry. Those that are not asked for are read as well, for
// they may be over the table of one that is; what is wrong with them is not said.
func bind(q *config.Queue, catalog *schema.Catalog, names []string) planned {
	e := planned{queue: q}
	if q.Name.IsSet() {
		e.known = []string{q.Name.Value}
	}
	if catalog == nil {
		return e
	}
	d, _ := dialect.Lookup(q.Engine.Value)
	e.specs = queue.Bind(catalog, q, d.Fold, &e.errs)
	for _, spec := range e.specs {
		e.known = append(e.known, spec.Name)
	}
	unnamed := len(e.known) == 0 // may be what is asked for
	if !unnamed && !slices.ContainsFunc(e.known, func(name string) bool { return asked(names, name) }) {
		e.errs = source.ErrorList{}
	}
	return e
}

// beside tells queues over one table of each other. Of two servers each has a table of its own.
func beside(entries []planned) {
	of := map[string][]*queue.Spec{}
	for _, e := range entries {
		of[e.queue.Engine.Value] = append(of[e.queue.Engine.Value], e.specs...)
	}
	for _, specs := range of {
		queue.Beside(specs)
	}
}

// inTurn returns the entries that can be planned beside each other, and those with a queue over a
// table of an earlier one, which want to know what that has come to.
func inTurn(entries []planned) (alone, later []*planned) {
	seen := map[*queue.Spec]bool{}
	for i := range entries {
		e := &entries[i]
		if slices.ContainsFunc(e.specs, func(s *queue.Spec) bool {
			return slices.ContainsFunc(s.Others, func(other *queue.Spec) bool { return seen[other] })
		}) {
			later = append(later, e)
		} else {
			alone = append(alone, e)
		}
		for _, s := range e.specs {
			seen[s] = true
		}
	}
	return alone, later
}

// plan plans the packages of the entry that are asked for, and those over the table of one that is,
// which are not kept. all are the entries of which some are planned.
func (e *planned) plan(names []string, all []planned) {
	d, _ := dialect.Lookup(e.queue.Engine.Value)
	for _, spec := range e.specs {
		errs, wanted := &e.errs, asked(names, spec.Name)
		if !wanted {
			if errs = new(source.ErrorList); !slices.ContainsFunc(spec.Others, func(s *queue.Spec) bool { return asked(names, s.Name) }) {
				e.plans = append(e.plans, nil)
				continue
			}
		}
		pkg := plan.Build(spec, d, e.queue, e.earlier(spec, all), errs)
		if e.plans = append(e.plans, pkg); pkg != nil && wanted {
			e.packages = append(e.packages, &Package{Queue: e.queue, Plan: pkg, Dialect: d})
		}
	}
}

// earlier returns the plans of queues over the table of one, as far as there are any.
func (e *planned) earlier(spec *queue.Spec, all []planned) []*plan.Package {
	var plans []*plan.Package
	look := func(e *planned) {
		for i, pkg := range e.plans {
			if pkg != nil && slices.Contains(spec.Others, e.specs[i]) {
				plans = append(plans, pkg)
			}
		}
	}
	for i := range all {
		if &all[i] != e {
			look(&all[i])
		}
	}
	look(e)
	return plans
}

func asked(names []string, name string) bool {
	return len(names) == 0 || slices.Contains(names, name)
}

// folders complains about packages that would share a folder.
func folders(packages []*Package, errs *source.ErrorList) {
	first := map[string]*Package{}
	for _, pkg := range packages {
		// Some file systems do not tell upper from lower case.
		key := strings.ToLower(pkg.Plan.Out)
		if other := first[key]; other != nil {
			errs.Errorf(pkg.Queue.Gen.Go.Out.Pos, "the queue %s would be written into the folder of the queue %s: %s", pkg.Plan.Queue, other.Plan.Queue, pkg.Plan.Out).
				WithHint("Each queue has a package of its own. Give this one another gen.go.out.")
			continue
		}
		first[key] = pkg
	}
}

// Emit writes the packages down, in memory. An error is a *BugError.
func Emit(packages []*Package) ([]emit.File, error) {
	each := make([][]emit.File, len(packages))
	errs := make([]error, len(packages))
	var emitter emit.Emitter
	parallel(runtime.GOMAXPROCS(0), len(packages), func(i int) {
		each[i], errs[i] = emitPackage(&emitter, packages[i])
	})
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return slices.Concat(each...), nil
}

// emitPackage writes one package down and reads its SQL again with the parser
// of its dialect.
func emitPackage(emitter *emit.Emitter, pkg *Package) ([]emit.File, error) {
	files, err := emitter.Files(pkg.Plan)
	if err != nil {
		return nil, &BugError{Path: pkg.Plan.Out, Err: err}
	}
	for _, f := range files {
		// That Go can be read is known: it could not have been formatted.
		if !strings.HasSuffix(f.Path, ".sql") {
			continue
		}
		if err := schema.Check(pkg.Dialect.Grammar, pkg.Plan.Sampled(string(f.Data))); err != nil {
			return nil, &BugError{Path: f.Path, Err: err}
		}
	}
	return files, nil
}
