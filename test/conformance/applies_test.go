package conformance

import "slices"

// This file says to which subjects a property applies. It asks the shape and
// the strategy, not the package: a method that is missing where it should be
// there makes the property fail, and proveMethods finds one too many.

// method reports whether the subject's table can have the method.
func (s *subject) method(name string) bool { return !slices.Contains(s.absent(), name) }

// absent lists the methods that the subject cannot have.
func (s *subject) absent() []string {
	absent := slices.Clone(s.shape.absent)
	switch s.strategy() {
	case "hold":
		// Without a transaction nothing can be held; within one, a rollback gives back.
		absent = append(absent, "Claim", "Complete", "Fail", "Requeue", "Extend", "Recover", "CompleteAndClaim")
	case "pop":
		absent = append(absent, "Complete", "Fail", "Requeue", "Extend", "Recover", "Redrive", "Purge", "CompleteAndClaim")
	case "offset":
		absent = append(absent, "Fail", "Recover", "Redrive", "CompleteAndClaim")
	case "partition":
		absent = append(absent, "Fail", "Requeue", "Extend", "Recover", "Redrive", "CompleteAndClaim")
	}
	if s.strategy() != "hold" {
		absent = append(absent, "Hold")
	}
	return absent
}

// canComplete: jobs are settled after they were taken.
func canComplete(s *subject) bool { return s.strategy() != "pop" }

// marksRunning: the table shows which jobs run.
func marksRunning(s *subject) bool { return s.shape.running != "" && canComplete(s) }

func canCompleteAndClaim(s *subject) bool { return canComplete(s) && s.method("CompleteAndClaim") }

func canFail(s *subject) bool { return s.method("Fail") || s.strategy() == "hold" }

func canRequeue(s *subject) bool { return s.method("Requeue") }

func canExtend(s *subject) bool { return s.method("Extend") }

func canRedrive(s *subject) bool { return s.method("Redrive") && s.shape.failed != "" }

func canPurge(s *subject) bool {
	return s.method("Purge") && (s.shape.done != "" || s.shape.failed != "")
}

// canReclaim: an expired claim goes to another worker, and a fence tells the two apart.
func canReclaim(s *subject) bool {
	return s.shape.lease != "" && s.shape.fence != "status"
}

// tellsClaimsApart: no two claims of a row leave the same marks, not even after
// a job was given back, which takes back the count of its tries.
func tellsClaimsApart(s *subject) bool {
	switch s.shape.fence {
	case "token", "claimed":
		return true
	case "attempt":
		return s.shape.tries == uncounted || s.pkg.worker != nil
	}
	return false
}

// comesBack: jobs of a dead worker are found by their lease, or free at once.
func comesBack(s *subject) bool {
	return s.shape.lease != "" || s.strategy() == "hold" || s.strategy() == "partition"
}

// givesUp: claims are counted, so a job that kills its workers fails in the end.
func givesUp(s *subject) bool {
	return s.shape.lease != "" && s.shape.tries == byClaim && s.method("Recover")
}

// hasLowHint: first in, first out, claimed past locked rows, and past dead ones.
func hasLowHint(s *subject) bool {
	return s.pkg.shape == "single" && s.strategy() == "returning" && hasRowLocks(s) && s.family.deadRows
}

func hasWork(s *subject) bool {
	return (s.pkg.shape == "single" || s.shape.side != "") && s.pkg.strategy == ""
}

// passesLocked: a claim does not wait for rows that another transaction holds.
func passesLocked(s *subject) bool {
	if s.strategy() == "token" && s.family.inCursors {
		return false
	}
	return s.skipsLocked() && s.strategy() != "guarded" && s.strategy() != "partition"
}

// skipsLocked: the server can pass over rows that another transaction holds.
func (s *subject) skipsLocked() bool {
	return s.family.skips != "" && !before(s.pkg.server, s.family.skips) && (!s.pkg.cluster || !s.family.cluster.waits)
}

// unordered: no index of the server gives the order of the queue.
func (s *subject) unordered() bool {
	return s.shape.mixed && before(s.pkg.server, s.family.descends)
}

// locksRows: claims hold rows, and no more than those.
func locksRows(s *subject) bool { return hasRowLocks(s) && s.strategy() != "partition" }

// plansAlone: a server is no cluster, whose nodes plan the same texts as single
// servers do.
func plansAlone(s *subject) bool { return !s.clustered() }

// plansByStatistics: plans follow statistics that may be wrong.
func plansByStatistics(s *subject) bool { return plansAlone(s) && hasStatistics(s) }

// settlesByKey: running rows are found by their key, whatever the plan could be. A
// side table holds no others; it is read whole while its size makes that cheaper.
func settlesByKey(s *subject) bool { return plansAlone(s) && marksRunning(s) && s.shape.side == "" }

// movesRows: jobs that have ended go to other tables, and their parts go away.
func movesRows(s *subject) bool { return s.pkg.shape == "moved" || s.pkg.shape == "movedrun" }

// keepsEnded: rows of jobs that have ended stay where Stats counts them.
func keepsEnded(s *subject) bool { return s.method("Purge") }

// settlesBeside: jobs are settled while other rows are held.
func settlesBeside(s *subject) bool { return hasRowLocks(s) && canComplete(s) }
