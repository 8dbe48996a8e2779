package queue

// This file tells which queues have one table in common, and which rows have ended in one
// of them and not in another.

import "slices"

// Beside tells each of the queues of one database which others are over its table.
func Beside(specs []*Spec) {
	for _, s := range specs {
		for _, other := range specs {
			if s != other && s.Table.Pos == other.Table.Pos {
				s.Others = append(s.Others, other)
			}
		}
	}
}

// Awaits returns the first of the other queues over the table that may still have to do with
// rows that are in a state here, and the state of such rows there; nil where none has.
func (s *Spec) Awaits(name StateName) (*Spec, StateName) {
	state := s.States[name]
	if state == nil {
		return nil, ""
	}
	for _, other := range s.Others {
		if believedApart(s.Members, other.Members) || other.takesAny() {
			continue
		}
		for _, there := range []StateName{Ready, Claimed, Running} {
			if of := other.States[there]; of != nil && mayShare(s, state.Tests, of.Tests) {
				return other, there
			}
		}
	}
	return nil, ""
}

// OthersFail reports whether rows that wait or have ended in another queue over the table fail a test here, so
// that they stand among those that satisfy it, however many they are.
func (s *Spec) OthersFail(t Test) bool {
	return slices.ContainsFunc(s.Others, func(other *Spec) bool {
		return slices.ContainsFunc([]StateName{Ready, Done, Failed}, func(name StateName) bool {
			there := other.States[name]
			return there != nil && slices.ContainsFunc(there.Tests, func(u Test) bool { return t.Excludes(s.own(u)) })
		})
	})
}

// takesAny reports whether a claim with strategy=pop loses nothing when a row is gone that it might have
// taken: it takes rows in any state, as its caller names them, or does no more than delete them.
func (s *Spec) takesAny() bool {
	t, ready := s.Transitions[Finish], s.States[Ready]
	if s.Strategy != "pop" || t == nil || ready == nil {
		return false
	}
	return len(ready.Tests) == 0 || t.Delete && len(t.With) == 0
}

// AddedBy returns the queue over the table that adds the rows which are ready here: one whose claims make
// them so, as those that somebody has there, and for a stage one whose jobs end so; of those which a claim
// with strategy=pop changes or deletes one that knows them, in whatever state. A stage of rows that are not
// ready there begins with none of its own where it marks no row while it runs. It is nil where nothing else
// adds them, where both claim the same ready rows, each in its way, and where enqueue= or enqueue_if
// says how this queue adds them.
func (s *Spec) AddedBy() *Spec {
	ready := s.States[Ready]
	if s.Absent || s.Upsert != nil || s.EnqueueIf != nil || ready == nil {
		return nil
	}
	if s.Strategy != "pop" {
		i := slices.IndexFunc(s.Others, func(other *Spec) bool {
			return other.Strategy != "pop" && (s.followsClaims(other) || s.Stage && s.Strategy == "hold" && s.beginsElsewhere(other))
		})
		if i < 0 {
			return nil
		}
		return s.Others[i]
	}
	changes := s.ChangesNamed() || slices.Contains(s.Anew, Finish)
	i := slices.IndexFunc(s.Others, func(other *Spec) bool {
		if other.Strategy == "pop" || believedApart(s.Members, other.Members) {
			return false
		}
		if there := other.States[Ready]; !changes && there != nil && s.sameTests(ready.Tests, there.Tests) {
			return false
		}
		return other.Log != nil || s.Stage && s.beginsElsewhere(other) || slices.ContainsFunc([]StateName{Ready, Claimed, Running, Done, Failed}, func(name StateName) bool {
			there := other.States[name]
			return there != nil && mayShare(s, ready.Tests, there.Tests)
		})
	})
	if i < 0 {
		return nil
	}
	return s.Others[i]
}

// followsClaims reports whether what is ready here is what somebody has in another queue over the table.
func (s *Spec) followsClaims(other *Spec) bool {
	ready, there := s.States[Ready], other.States[Ready]
	if believedApart(s.Members, other.Members) || there == nil || mayShare(s, ready.Tests, there.Tests) || !s.Stage && !slices.ContainsFunc(ready.Tests, other.leavesAs) {
		return false
	}
	from := []StateName{Claimed, Running}
	if s.Stage {
		from = append(from, Done, Failed)
	}
	return slices.ContainsFunc(from, func(name StateName) bool {
		state := other.States[name]
		return state != nil && mayShare(s, ready.Tests, state.Tests) && slices.ContainsFunc(state.Tests, func(t Test) bool { return tellsBy(ready.Tests, s.own(t).Column) })
	})
}

// beginsElsewhere reports whether a new row of another queue over the table is surely not ready here, by a column
// that tells ready rows of both.
func (s *Spec) beginsElsewhere(other *Spec) bool {
	ready, there := s.States[Ready], other.States[Ready]
	return !other.Stage && !believedApart(s.Members, other.Members) && ready != nil && there != nil && !mayShare(s, ready.Tests, there.Tests)
}

// PassesOn reports whether a claim with strategy=pop leaves its rows to a queue over the table of which
// no claim ends a job: what it writes is that of a row which is ready, claimed or running there.
func (s *Spec) PassesOn() bool {
	t := s.Transitions[Finish]
	if s.Strategy != "pop" || t == nil || t.Delete || s.States[Ready] == nil {
		return false
	}
	return slices.ContainsFunc(s.Others, func(other *Spec) bool {
		return other.Strategy != "pop" && !believedApart(s.Members, other.Members) && slices.ContainsFunc([]StateName{Ready, Claimed, Running}, func(name StateName) bool {
			there := other.States[name]
			return there != nil && s.writesState(t, there.Tests)
		})
	})
}

// writesState reports whether a step writes a value by which another queue over the table tells a state,
// and none that is not of that state.
func (s *Spec) writesState(t *Transition, there []Test) bool {
	told := false
	var rest []Test
	for _, test := range there {
		test = s.own(test)
		i := slices.IndexFunc(t.Writes, func(w Write) bool { return w.Column == test.Column && w.Value.Kind != Old })
		if i < 0 {
			rest = append(rest, test)
			continue
		}
		if v := t.Writes[i].Value; v.Kind == Literal || v.Kind == Null {
			if !slices.ContainsFunc(test.Alternatives(), func(test Test) bool { return meets(v, test) }) {
				return false
			}
			told = true
		}
	}
	kept := slices.DeleteFunc(slices.Clone(s.States[Ready].Tests), func(test Test) bool {
		return slices.ContainsFunc(t.Writes, func(w Write) bool { return w.Column == test.Column })
	})
	return told && mayShare(s, kept, rest)
}

// Decides reports whether a claim with strategy=pop writes what the queue that adds its rows tells a
// state by: it says what becomes of the jobs of that queue.
func (s *Spec) Decides() bool {
	other, t := s.AddedBy(), s.Transitions[Finish]
	if s.Strategy != "pop" || other == nil || t == nil {
		return false
	}
	return slices.ContainsFunc(t.Writes, func(w Write) bool {
		if w.Value.Kind == Old {
			return false
		}
		for _, state := range other.States {
			if slices.ContainsFunc(state.Tests, func(test Test) bool { return s.own(test).Column == w.Column }) {
				return true
			}
		}
		return false
	})
}

// sameTests reports whether tests here and those of another queue over the table are the same.
func (s *Spec) sameTests(here, there []Test) bool {
	return len(here) == len(there) && !slices.ContainsFunc(there, func(t Test) bool {
		return !slices.ContainsFunc(here, func(own Test) bool { return sameTest(own, s.own(t)) })
	})
}

// EndedEverywhere returns the tests of the rows that are in a state here and done in each of the
// other queues that may have to do with them; nil where there are no such rows.
func (s *Spec) EndedEverywhere(name StateName) []Test {
	state := s.States[name]
	if state == nil {
		return nil
	}
	tests := slices.Clone(state.Tests)
	for _, other := range s.Others {
		if believedApart(s.Members, other.Members) || other.takesAny() {
			continue
		}
		done := other.States[Done]
		if done == nil || !mayShare(s, tests, done.Tests) {
			return nil
		}
		for _, t := range done.Tests {
			tests = append(tests, s.own(t))
		}
	}
	return tests
}

// Frees reports whether Recover of this queue may take rows that run in another queue over the table,
// because a claim there makes them look as those that run here: with recover=start any, with
// recover=own those under one name, and else those whose claim has run out by what is looked at here,
// unless it has there as well.
func (s *Spec) Frees(other *Spec) bool {
	switch {
	case s.Away != nil, other.Away != nil, !s.mistakes(other):
		return false
	case s.RecoversOwn():
		return s.Worker != nil && other.Worker != nil && s.Worker.Name == other.Worker.Name
	case s.AtStart:
		return true
	}
	return s.runsOut(other) && !s.waitsFor(other)
}

// Collects reports whether Recover of this queue makes of rows of another queue over the table whose
// claim has run out there something else than Recover there would, if there is one.
func (s *Spec) Collects(other *Spec) bool {
	if s.Away != nil || other.Away != nil || s.AtStart || !s.mistakes(other) || !s.runsOut(other) || !s.waitsFor(other) {
		return false
	}
	return slices.ContainsFunc([]TransitionName{Recover, GiveUp}, func(name TransitionName) bool {
		here, there := s.Transitions[name], other.Transitions[name]
		if here == nil || there == nil {
			return here != there
		}
		return here.Delete != there.Delete || !slices.EqualFunc(here.Writes, there.Writes, func(x, y Write) bool {
			return x.Column.Name == y.Column.Name && same(x.Value, y.Value)
		})
	})
}

// mistakes reports whether a claim of another queue over the table makes a row look as one that runs
// here.
func (s *Spec) mistakes(other *Spec) bool {
	held := []StateName{Claimed, Running}
	return slices.ContainsFunc(held, func(name StateName) bool {
		here := s.States[name]
		return here != nil && slices.ContainsFunc(here.Tests, other.marks) && slices.ContainsFunc(held, func(name StateName) bool {
			there := other.States[name]
			return there != nil && !believedApart(raw(here.Tests), raw(there.Tests)) && mayShare(s, here.Tests, there.Tests)
		})
	})
}

// marks reports whether a claim writes what a test looks at, which may be one of another queue over
// the table.
func (s *Spec) marks(t Test) bool {
	claim := s.Transitions[Claim]
	return claim != nil && slices.ContainsFunc(claim.Writes, func(w Write) bool {
		return slices.ContainsFunc(t.Alternatives(), func(t Test) bool {
			return t.Column != nil && t.Column.Name == w.Column.Name || t.Op == Raw && s.Reads(t.SQL, w.Column)
		})
	})
}

// leavesAs reports whether a claim, or the step that begins a claimed job, writes a constant by which a
// test of another queue over the table holds.
func (s *Spec) leavesAs(t Test) bool {
	return slices.ContainsFunc([]TransitionName{Claim, Start}, func(name TransitionName) bool {
		step := s.Transitions[name]
		return step != nil && slices.ContainsFunc(step.Writes, func(w Write) bool {
			constant := w.Value.Kind == Literal || w.Value.Kind == Null
			return constant && slices.ContainsFunc(s.own(t).Alternatives(), func(t Test) bool { return t.Column == w.Column && meets(w.Value, t) })
		})
	})
}

// runsOut reports whether Recover here looks at a time, or at what else, that a claim of another queue
// over the table leaves in a row, or that a row has from the beginning, as a deadline is.
func (s *Spec) runsOut(other *Spec) bool {
	recovers := s.Transitions[Recover] != nil || s.Transitions[GiveUp] != nil
	return recovers && s.Side == nil && s.Liveness == nil && (slices.ContainsFunc(s.Expired, other.marks) ||
		slices.ContainsFunc(s.Expired, func(t Test) bool { return s.begins(t) || other.begins(t) }))
}

// begins reports whether a new row has in it what a test looks at, which no claim here writes: a moment, or
// what SQL or a producer says.
func (s *Spec) begins(t Test) bool {
	enqueue := s.Transitions[Enqueue]
	return enqueue != nil && !s.marks(t) && slices.ContainsFunc(enqueue.Writes, func(w Write) bool {
		said := !slices.Contains([]ValueKind{Old, Literal, Null}, w.Value.Kind)
		return said && (t.Column != nil && t.Column.Name == w.Column.Name || t.Op == Raw && s.Reads(t.SQL, w.Column))
	})
}

// waitsFor reports whether a claim of another queue over the table that has run out by what is looked
// at here has surely run out there: both look at the same, or here at a later time.
func (s *Spec) waitsFor(other *Spec) bool {
	if s.sameTests(s.Expired, other.Expired) {
		return true
	}
	here, there := s.Lease, other.Lease
	fixed := func(l *Lease) bool {
		return l != nil && l.FromStart && l.Length > 0 && l.LengthOf == nil && l.LengthBy == nil && !l.LengthArg && !l.TimeoutArg
	}
	name := func(l *Lease) string {
		if l.Heartbeat != nil {
			return l.Heartbeat.Name
		}
		return l.Column.Name
	}
	timed := func(s *Spec) bool { // and by nothing else but that
		return len(s.Expired) > 0 && !slices.ContainsFunc(s.Expired[1:], func(t Test) bool { return t.Column != s.Expired[0].Column })
	}
	return timed(s) && timed(other) && fixed(here) && fixed(there) && name(here) == name(there) && here.Length >= there.Length
}

// TakenBy returns a queue over the table that takes jobs whose workers have died here, where this one
// does not: by its Recover, or else by its claims. It is nil where there is none.
func (s *Spec) TakenBy() (other *Spec, recovers bool) {
	for _, other := range s.Others {
		if other.Frees(s) || other.Collects(s) {
			return other, true
		}
	}
	i := slices.IndexFunc(s.Others, func(other *Spec) bool {
		running, ready := s.States[Running], other.States[Ready]
		return running != nil && ready != nil && !believedApart(s.Members, other.Members) &&
			slices.ContainsFunc(ready.Tests, s.leavesAs) && mayShare(s, running.Tests, ready.Tests) && s.givesBack(other)
	})
	if i < 0 {
		return nil, false
	}
	return s.Others[i], false
}

// givesBack reports whether rows of jobs that run here are ready again when another queue over the
// table has taken them: those that it only pauses, ends or reports on come back to no worker.
func (s *Spec) givesBack(other *Spec) bool {
	if other.Strategy != "pop" {
		return true
	}
	t, ready := other.Transitions[Finish], s.States[Ready]
	return t != nil && !t.Delete && ready != nil && other.writesState(t, ready.Tests)
}

// raw returns the tests that are SQL of the user.
func raw(tests []Test) []Test {
	return slices.DeleteFunc(slices.Clone(tests), func(t Test) bool { return t.Op != Raw })
}

// believedApart reports whether two queues each say which rows of the table are theirs, and
// say it differently. An expression of the user is believed to tell.
func believedApart(x, y []Test) bool {
	return len(x) > 0 && len(y) > 0 &&
		!slices.EqualFunc(x, y, func(x, y Test) bool { return x.SQL == y.SQL })
}

// mayShare reports whether a row may satisfy both lists of tests, of which the second is of
// another queue over the table. What an expression tells is not known.
func mayShare(s *Spec, here, there []Test) bool {
	raw := func(t Test) bool {
		return slices.ContainsFunc(t.Alternatives(), func(x Test) bool { return x.Op == Raw })
	}
	here = slices.DeleteFunc(slices.Clone(here), raw)
	there = slices.DeleteFunc(slices.Clone(there), raw)
	for i, t := range there {
		there[i] = s.own(t)
	}
	return !disjointStates(here, there)
}

// own returns a test of another queue over the table, of the columns as this one has them:
// each has read the table for itself.
func (s *Spec) own(t Test) Test {
	if t.Column != nil {
		if c := s.Table.Column(t.Column.Name); c != nil {
			t.Column = c
		}
	}
	t.Or = slices.Clone(t.Or)
	for i, or := range t.Or {
		t.Or[i] = s.own(or)
	}
	return t
}
