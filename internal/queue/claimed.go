package queue

// This file reads the state of jobs that are claimed and not begun. Whoever has a row has
// it in that state and in running alike: what is tested of a row that somebody has is the
// union of both, so that nothing but Start and the count of states needs to tell them apart.

import "slices"

// readStart joins what the status columns say of claimed and of running rows.
func (b *binding) readStart() {
	w := b.saysState(Claimed)
	if w == nil || len(b.status) < len(b.roles["status"]) || !b.canStart(w) {
		return
	}
	var apart []*statusColumn
	for _, s := range b.status {
		claimed, waits := s.tests[Claimed]
		running, runs := s.tests[Running]
		if waits != runs || waits && !sameTest(claimed, running) {
			apart = append(apart, s)
		}
	}
	switch {
	case len(apart) > 1:
		first, second := apart[0], apart[1]
		b.errorf(second.saidOf(Claimed, Running).pos, "columns %q and %q both tell a claimed job from a running one", first.column.Name, second.column.Name).
			WithHint("A row that somebody has is told by each column for itself, whether its job has begun or not. Let one column tell the two apart, and leave claimed= and running= out of the other: what it gets is said by qgen:on claim set … and qgen:on start set ….")
		return
	case len(apart) == 1:
		s := apart[0]
		for _, pair := range [][2]StateName{{Claimed, Running}, {Running, Claimed}} {
			if _, ok := s.tests[pair[0]]; !ok {
				b.errorf(s.word(string(pair[1])).pos, "nothing says what column %q holds while a job is %s", s.column.Name, pair[0]).
					WithHint("Say it as well, for example %s.", sample(s, pair[0]))
				return
			}
		}
		b.parts = s
		s.phases = map[StateName]Test{Claimed: s.tests[Claimed], Running: s.tests[Running]}
	}
	b.twoSteps = true
	for _, s := range b.status {
		s.joinStart()
	}
}

// canStart reports whether claims can leave a state that Start then ends. It complains
// where they cannot.
func (b *binding) canStart(w *word) bool {
	before := b.errs.Len()
	why := map[string]string{
		"hold":        "strategy=hold writes nothing while somebody has a row: the row lock is the claim",
		"pop":         "strategy=pop ends a job when it is claimed, so that nothing is left to begin",
		"offset":      "strategy=offset never writes rows",
		"lease_table": "claims in a side table leave the row as it is until its job has ended",
	}
	strategy := b.spec.Strategy
	if b.spec.Side != nil {
		strategy = "lease_table"
	}
	switch {
	case why[strategy] != "":
		b.errorf(w.pos, "%s marks rows that are claimed and not begun, but %s", w.pos.Text(), why[strategy]).
			WithHint("Leave claimed= and running= out, or let claims be written to the row: leave the strategy or the side table out.")
	case b.saysState(Running) == nil:
		b.errorf(w.pos, "%s says which rows are claimed and not begun, and nothing says which run", w.pos.Text()).
			WithHint("Say running=<value> for jobs that have begun. If a claimed job runs at once, say running= in the place of claimed=.")
	}
	for _, s := range b.status {
		b.checkStart(s)
	}
	return b.errs.Len() == before
}

// checkStart complains where Start would write over what tells a claim.
func (b *binding) checkStart(s *statusColumn) {
	claimed, running := s.writes[Claimed], s.writes[Running]
	switch {
	case running.Kind == Token || claimed.Kind == Token:
		state := Running
		if claimed.Kind == Token {
			state = Claimed
		}
		w := s.saidOf(state)
		b.errorf(w.pos, "%s makes column %q tell one claim from another, but beside claimed= it is written twice, by Claim and by Start", w.pos.Text(), s.column.Name).
			WithHint("Write constants for both states, and mark a column of its own with qgen:token.")
	case (claimed.Kind == WorkerID || claimed.Kind == Now) && running.Kind != "" && running.Kind != claimed.Kind:
		w := s.saidOf(Running)
		b.errorf(w.pos, "%s would be written over what tells the claim in column %q", w.pos.Text(), s.column.Name).
			WithHint("Say running=%s as well, or keep that in a column of its own: qgen:%s.", claimed.Kind, map[ValueKind]string{WorkerID: "worker", Now: "claimed"}[claimed.Kind])
	case running.Kind == WorkerID && claimed.Kind != WorkerID:
		w := s.saidOf(Running)
		b.errorf(w.pos, "%s would tell in column %q who has a job only when it is begun, but somebody has it from its claim on", w.pos.Text(), s.column.Name).
			WithHint("Say claimed=worker as well, or mark a column of its own with qgen:worker.")
	}
}

// saidOf returns the first word that the column has for one of the states.
func (s *statusColumn) saidOf(states ...StateName) *word {
	for _, state := range states {
		if w := s.word(string(state)); w != nil {
			return w
		}
	}
	return nil
}

// joinStart makes of what is said of claimed and running rows what is said of a row that
// somebody has, which goes by the name of running from here on. Claim writes what claimed
// rows have, Start the rest.
func (s *statusColumn) joinStart() {
	claimed, claims := s.writes[Claimed]
	running, runs := s.writes[Running]
	if runs && (!claims || !same(claimed, running)) {
		s.start = &running
	}
	delete(s.writes, Running)
	if claims {
		s.writes[Running] = claimed
	}
	if s.phases != nil {
		s.tests[Running] = union(s.phases[Claimed], s.phases[Running])
		if always(s.tests[Running]) {
			delete(s.tests, Running)
		}
	} else {
		// Constants of both states are those of any job that a worker has.
		for i := range s.values {
			if s.values[i].State == Claimed {
				s.values[i].State = Running
			}
		}
	}
	delete(s.tests, Claimed)
	delete(s.writes, Claimed)
}

// orHeld returns what is tested of a row that is ready or that somebody has, and whether
// anything is.
func (s *statusColumn) orHeld(ready Test) (Test, bool) {
	held, ok := s.tests[Running]
	if !ok {
		return ready, s.phases == nil
	}
	t := union(ready, held)
	return t, !always(t)
}

// touches reports whether the column has anything to do with rows that somebody has.
func (s *statusColumn) touches() bool {
	_, says := s.tests[Running]
	_, writes := s.writes[Running]
	return says || writes || s.phases != nil
}

// phase returns, of the tests of a row that somebody has, those of one that is claimed and
// not begun, or of one that runs.
func (b *binding) phase(tests []Test, state StateName) []Test {
	s := b.parts
	if s == nil {
		return tests
	}
	held, ok := s.tests[Running]
	at := slices.IndexFunc(tests, func(t Test) bool { return ok && sameTest(t, held) })
	if at < 0 {
		return append([]Test{s.phases[state]}, tests...)
	}
	tests = slices.Clone(tests)
	tests[at] = s.phases[state]
	return tests
}

// told returns every test by which a state is told.
func (b *binding) told(state StateName) []Test {
	if b.twoSteps && (state == Claimed || state == Running) {
		return b.phase(b.all(Running), state)
	}
	return b.all(state)
}

// enteredBy returns what a column must hold after a step that leads to a state, and the
// word that says so; nil where it is silent.
func (s *statusColumn) enteredBy(name TransitionName, state StateName) (Test, *word) {
	w := s.word(string(state))
	if name == Claim && s.word(string(Claimed)) != nil {
		state, w = Claimed, s.word(string(Claimed))
	}
	if s.phases != nil && (name == Claim || name == Start) {
		return s.phases[state], w
	}
	if state == Claimed {
		state = Running
	}
	t, ok := s.tests[state]
	if !ok {
		return t, nil
	}
	return t, w
}
