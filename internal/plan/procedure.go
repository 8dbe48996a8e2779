package plan

// This file stores statements as procedures, which the package then calls.

import (
	"cmp"
	"fmt"
	"strconv"

	"github.com/qgen-dev/qgen/internal/dialect"
)

// store makes a statement a procedure, and the statement its call.
func (s *scope) store(st *Statement, template string, v values) {
	names := s.parameterNames()
	body, order, err := s.d.RenderNamed(template, v, func(arg, _ int) string { return names[arg] })
	if err != nil {
		s.fail(fmt.Errorf("%s: %w", st.Name, err))
		return
	}
	owner := s.spec.Table
	if s.rows != nil {
		owner = s.rows.spec.Table
	}
	v.Procedure = s.d.Qualified(owner.Schema, s.d.Shorten(owner.Name+"_"+st.Name))
	v.Body = body
	for n, arg := range order {
		v.Declared = append(v.Declared, names[arg]+" "+s.parameterType(s.args[arg]))
		v.Given = append(v.Given, names[arg]+" = "+dialect.Fill(s.d.Placeholder, "n", strconv.Itoa(n+1)))
	}
	render := func(name string) string {
		text, _, err := s.d.Render(name, v)
		if err != nil {
			s.fail(fmt.Errorf("%s: %w", st.Name, err))
		}
		return text
	}
	st.Procedure = &Procedure{Name: v.Procedure, DDL: render("procedure"), End: s.d.Fragments["batch_end"].At(s.version)}
	st.SQL = render("call")
}

// argumentNames are the names of arguments that have none of their own.
var argumentNames = map[ArgKind]string{
	ArgLimit: "limit", ArgLow: "low", ArgToken: "token", ArgWorker: "worker", ArgShardIdx: "shard", ArgShardCnt: "shards", ArgShardMin: "shardMin", ArgShardMax: "shardMax",
	ArgLease: "leaseSeconds", ArgTimeout: "timeoutSeconds", ArgDelay: "delaySeconds", ArgOlder: "olderSeconds", ArgError: "error",
	ArgBatchAll: "jobs", ArgNewAll: "jobs", ArgHeldAll: "held",
}

// parameterNames names the arguments of the scope as parameters, each its own.
func (s *scope) parameterNames() []string {
	form := s.d.Fragments["parameter"].At(s.version)
	names := make([]string, len(s.args))
	used := map[string]bool{}
	for i, a := range s.args {
		name := argumentNames[a.Kind]
		switch {
		case a.Param != nil:
			name = a.Param.Name
		case name == "" && a.Field != nil:
			name = a.Field.Param
		}
		name = cmp.Or(name, "value")
		for used[name] {
			name += "2"
		}
		used[name] = true
		names[i] = dialect.Fill(form, "name", name)
	}
	return names
}

// parameterType is the type of a parameter for an argument.
func (s *scope) parameterType(a Arg) string {
	form := func(name string) string { return s.d.Fragments["parameter_"+name].At(s.version) }
	field := a.Field
	if a.Param != nil && !a.Param.List {
		field = a.Param.Field
	}
	switch {
	case a.Kind == ArgLease || a.Kind == ArgTimeout || a.Kind == ArgDelay || a.Kind == ArgOlder, field != nil && field.Codec == Seconds:
		return form("seconds")
	case a.Kind == ArgLimit || a.Kind == ArgShardIdx || a.Kind == ArgShardCnt:
		return form("count")
	case a.Kind == ArgLow || a.Kind == ArgShardMin || a.Kind == ArgShardMax || field != nil && field.TimeIsNumber():
		return form("number")
	case a.Kind == ArgNewSet || a.Kind == ArgParamNil:
		return form("truth")
	case field != nil && s.holdsBytes(field):
		return form("bytes")
	case field != nil && field.Codec == Direct:
		return s.sentType(field)
	}
	return form("text")
}
