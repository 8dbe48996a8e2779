package emit

// This file finds out which of the unexported parts of an emitted package are
// used, so that none is printed in vain.

import (
	"fmt"
	"maps"
	"slices"

	"github.com/qgen-dev/qgen/internal/code"
)

// part is an unexported declaration that several emitted files may use.
type part struct {
	name string // by which the code refers to it
	file string // that holds it
	emit func(f *code.File)
}

// parts lists what may be used, in the order in which it is printed.
func (w *writer) parts() []part {
	return []part{
		{"beginner", "db.go", w.beginnerType},
		{"row", "db.go", w.rowType},
		{"retry", "db.go", w.retryMethod},
		{"transact", "db.go", w.transactMethod},
		{"transactRepeatable", "db.go", w.repeatMethod},
		{"settle", "db.go", w.settleMethod},
		{"settleWith", "db.go", w.settleWithMethod},
		{"stillHeld", "db.go", w.stillHeldFunc},
		{"whole", "db.go", w.wholeFunc},
		{"settleRows", "db.go", w.settleRowsMethod},
		{"lost", "db.go", w.lostFunc},
		{"eachClaim", "db.go", w.eachClaimMethod},
		{"byClaim", "db.go", w.byClaimFunc},
		{"inParts", "db.go", w.inPartsMethod},
		{"oneByOne", "db.go", w.oneByOneMethod},
		{"pause", "db.go", w.pauseFunc},
		{"query", "db.go", w.queryFunc},
		{"queryCursor", "db.go", w.queryCursorFunc},
		{"changed", "db.go", w.changedFunc},
		{"collect", "db.go", w.collectFunc},
		{"exec", "db.go", w.execFunc},
		{"reserveSQL", "db.go", w.reserveVar},
		{"statement", "db.go", w.statementFunc},
		{"rolledBack", "db.go", w.rolledBackFunc},
		{"unknown", "db.go", w.unknownFunc},
		{"hasState", "db.go", w.hasStateFunc},
		{"hasCode", "db.go", w.hasCodeFunc},
		{"hasText", "db.go", w.hasTextFunc},
		{"hasNumber", "db.go", w.hasNumberFunc},
		{"insert", "db.go", w.insertFunc},
		{"defaultWorker", "db.go", w.defaultWorkerFunc},

		{"scanJob", "job.go", w.scanJobFunc},
		{"withPayload", "payload.go", w.withPayloadFunc},
		{"scanPayload", "payload.go", w.scanPayloadFunc},
		{"scanEach", "job.go", w.scanEachFunc},
		{"claimText", "job.go", w.claimTextMethod},
		{"scanKey", "job.go", w.scanKeyFunc},
		{"scanNewKey", "enqueue.go", w.scanNewKeyFunc},
		{"scanStep", "enqueue.go", w.scanStepFunc},
		{"scanToken", "token.go", w.scanTokenFunc},
		{"scanPeeked", "peek.go", w.scanPeekedFunc},
		{"scanCandidate", "claim.go", w.scanCandidateFunc},
		{"scanRoom", "claim.go", w.scanRoomFunc},
		{"addClaims", "claim.go", w.addClaimsFunc},
		{"less", "claim.go", w.lessFunc},
		{"scanStarted", "start.go", w.scanStartedFunc},
		{"scanExtended", "extend.go", w.scanExtendedFunc},

		{"span", "stats.go", w.spanFunc},
		{"isName", "tables.go", w.isNameFunc},
		{"lowBound", "low.go", w.lowBoundType},
		{"crowd", "claim.go", w.crowdType},
		{"newToken", "token.go", w.newTokenFunc},
		{"backoff", "fail.go", w.backoffFunc},
		{"wholeNumber", "fail.go", w.wholeNumberFunc},
		{"errorText", "fail.go", w.errorTextFunc},
		{cutUTF16.name, "fail.go", cutUTF16.function},
		{cutBytes.name, "fail.go", cutBytes.function},

		{"column", "args.go", w.columnFunc},
		{"cutParts", "args.go", w.cutPartsFunc},
		{"partOf", "args.go", w.partOfFunc},
		{"list", "args.go", w.listType},
		{"mostJobs", "args.go", w.mostJobsConst},
		{"expand", "args.go", w.expandFunc},
		{"numberSlots", "args.go", w.numberSlotsFunc},
		{"textArray", "args.go", w.textArrayFunc},
		{"jsonRows", "args.go", w.jsonRowsFunc},
		{"jsonText", "args.go", w.jsonTextFunc},
		{"hexText", "args.go", w.hexTextFunc},
		{"orNull", "args.go", w.orNullFunc},
		{"orZero", "args.go", w.orZeroFunc},
		{"nullInt64", "args.go", w.nullInt64Func},
		{"nullFloat64", "args.go", w.nullFloat64Func},
		{"ifSet", "args.go", w.ifSetFunc},
		{"parseTime", "args.go", w.parseTimeFunc},
		{"parseDigits", "args.go", w.parseDigitsFunc},
		{"inDigits", "args.go", w.inDigitsFunc},
		{"unixNano", "args.go", w.unixNanoFunc},
		{"parseUnits", "args.go", w.parseUnitsFunc},
		{"inUnits", "args.go", w.inUnitsFunc},
		{"wallClock", "args.go", w.wallClockFunc},
		{"localClock", "args.go", w.localClockFunc},
		{"compareNull", "args.go", w.compareNullFunc},
		{"compareBool", "args.go", w.compareBoolFunc},
		{"compareNumber", "args.go", w.compareNumberFunc},
	}
}

// addParts adds to files every part that they use, and what those use.
func (w *writer) addParts(files map[string]*code.File, formatter *code.Formatter) {
	parts := w.parts()
	used := make(map[string]bool, len(parts))
	for _, p := range parts {
		used[p.name] = false
	}
	use := func(name string) {
		if _, known := used[name]; known {
			used[name] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		w.broken(name, files[name].Uses(formatter, use))
	}
	taken := make([]*code.File, len(parts))
	for grown := true; grown; {
		grown = false
		for i, p := range parts {
			if taken[i] == nil && used[p.name] {
				taken[i], grown = w.newFile(), true
				p.emit(taken[i])
				w.broken(p.file, taken[i].Uses(formatter, use))
			}
		}
	}
	for i, p := range parts {
		if taken[i] == nil {
			continue
		}
		if files[p.file] == nil {
			files[p.file] = w.newFile()
		}
		files[p.file].Append(taken[i])
	}
}

// broken records that a file is no Go.
func (w *writer) broken(name string, err error) {
	if err != nil {
		w.errs = append(w.errs, fmt.Errorf("emit: %s: %w", name, err))
	}
}
