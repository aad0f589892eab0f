package table

import (
	"fmt"
	"slices"

	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

// verdict says what a commit that is already there means for one that is not.
type verdict int

const (
	// pass: the two don't touch each other.
	pass verdict = iota
	// retry: plan again on the newest version.
	retry
	// incompatible: what was prepared makes no sense any more.
	incompatible
	// byFragments: retry when theirs touches a fragment that mine replaces or reads.
	byFragments
	// byCoverage: retry when an index of theirs describes a fragment that mine
	// replaces, or when that is not known.
	byCoverage
	// byIndexCoverage: retry when theirs replaces a fragment that an index of mine describes.
	byIndexCoverage
	// byIndexName: retry when both make, or one makes and the other removes, an
	// index of one name, or when theirs removed what mine removes.
	byIndexName
	// byIndexedField: retry when theirs wrote a field that an index of mine is on.
	byIndexedField
)

// operation kinds, for the rows and columns of the rules.
type operation string

const (
	opUnknown         operation = "unknown"
	opAppend          operation = "append"
	opDelete          operation = "delete"
	opOverwrite       operation = "overwrite"
	opCreateIndex     operation = "create index"
	opRewrite         operation = "rewrite"
	opMerge           operation = "merge"
	opRestore         operation = "restore"
	opReserve         operation = "reserve fragments"
	opUpdate          operation = "update"
	opProject         operation = "project"
	opUpdateConfig    operation = "update config"
	opDataReplacement operation = "data replacement"
	opUpdateMemWAL    operation = "update mem-wal state"
	opClone           operation = "clone"
	opUpdateBases     operation = "update bases"
	opDataOverlay     operation = "data overlay"
)

func kindOf(t *pb.Transaction) operation {
	switch t.GetOperation().(type) {
	case *pb.Transaction_Append_:
		return opAppend
	case *pb.Transaction_Delete_:
		return opDelete
	case *pb.Transaction_Overwrite_:
		return opOverwrite
	case *pb.Transaction_CreateIndex_:
		return opCreateIndex
	case *pb.Transaction_Rewrite_:
		return opRewrite
	case *pb.Transaction_Merge_:
		return opMerge
	case *pb.Transaction_Restore_:
		return opRestore
	case *pb.Transaction_ReserveFragments_:
		return opReserve
	case *pb.Transaction_Update_:
		return opUpdate
	case *pb.Transaction_Project_:
		return opProject
	case *pb.Transaction_UpdateConfig_:
		return opUpdateConfig
	case *pb.Transaction_DataReplacement_:
		return opDataReplacement
	case *pb.Transaction_UpdateMemWalState_:
		return opUpdateMemWAL
	case *pb.Transaction_Clone_:
		return opClone
	case *pb.Transaction_UpdateBases_:
		return opUpdateBases
	case *pb.Transaction_DataOverlay_:
		return opDataOverlay
	}
	return opUnknown
}

// conflictRules are the rules of the format (FORMAT A7), where mine is not yet
// committed and theirs is. What is not listed, unknown operations above all, is
// a conflict.
var conflictRules = map[operation]map[operation]verdict{
	opRewrite: {
		opAppend: pass, opReserve: pass, opProject: pass, opClone: pass,
		opUpdateConfig: pass, opUpdateMemWAL: pass, opUpdateBases: pass,
		opDelete: byFragments, opUpdate: byFragments, opDataReplacement: byFragments,
		opDataOverlay: byFragments, opRewrite: byFragments,
		opCreateIndex: byCoverage,
		opMerge:       retry,
		opOverwrite:   incompatible, opRestore: incompatible,
	},
	opCreateIndex: {
		opAppend: pass, opDelete: pass, opReserve: pass, opUpdateConfig: pass,
		opClone: pass, opUpdateBases: pass,
		opUpdate: byIndexedField, opDataReplacement: byIndexedField,
		opCreateIndex: byIndexName, opRewrite: byIndexCoverage,
		opMerge: retry, opProject: retry,
		opUpdateMemWAL: incompatible, opDataOverlay: retry,
		opOverwrite: incompatible, opRestore: incompatible,
	},
	opReserve: {
		opAppend: pass, opDelete: pass, opReserve: pass, opUpdate: pass,
		opCreateIndex: pass, opRewrite: pass, opMerge: pass, opProject: pass,
		opUpdateConfig: pass, opDataReplacement: pass, opUpdateMemWAL: pass,
		opClone: pass, opUpdateBases: pass, opDataOverlay: pass,
		opOverwrite: incompatible, opRestore: incompatible,
	},
}

// checkConflict applies the rules: nil when mine may be committed on top of
// theirs, which made the given version. A nil theirs is a version that does not
// say what it did.
func checkConflict(mine, theirs *pb.Transaction, version uint64) error {
	if theirs == nil {
		return fmt.Errorf("%w: version %d does not say what it did", ErrConflict, version)
	}
	m, t := kindOf(mine), kindOf(theirs)
	rule, known := conflictRules[m][t]
	if !known {
		return fmt.Errorf("%w: version %d is of an unknown operation", ErrConflict, version)
	}
	hit := false
	switch rule {
	case pass:
	case retry, incompatible:
		hit = true
	case byFragments:
		ids, all := touched(theirs)
		hit = all || intersects(replaced(mine), ids)
	case byCoverage:
		hit = covers(theirs.GetCreateIndex().GetNewIndices(), replaced(mine))
	case byIndexCoverage:
		ids, all := touched(theirs)
		hit = all || covers(mine.GetCreateIndex().GetNewIndices(), ids)
	case byIndexName:
		hit = sameIndices(mine.GetCreateIndex(), theirs.GetCreateIndex())
	case byIndexedField:
		hit = writesIndexed(mine.GetCreateIndex(), theirs)
	}
	if hit {
		return fmt.Errorf("%w: version %d (%s) touches what this %s does", ErrConflict, version, t, m)
	}
	return nil
}

// replaced are the fragments that a rewrite takes out.
func replaced(t *pb.Transaction) []uint64 {
	var ids []uint64
	rw := t.GetRewrite()
	for _, g := range rw.GetGroups() {
		ids = appendIDs(ids, g.GetOldFragments())
	}
	return appendIDs(ids, rw.GetOldFragments())
}

// touched are the fragments that an operation changed; all when it does not say.
func touched(t *pb.Transaction) (ids []uint64, all bool) {
	switch op := t.GetOperation().(type) {
	case *pb.Transaction_Delete_:
		return appendIDs(slices.Clone(op.Delete.GetDeletedFragmentIds()), op.Delete.GetUpdatedFragments()), false
	case *pb.Transaction_Update_:
		return appendIDs(slices.Clone(op.Update.GetRemovedFragmentIds()), op.Update.GetUpdatedFragments()), false
	case *pb.Transaction_DataReplacement_:
		for _, g := range op.DataReplacement.GetReplacements() {
			ids = append(ids, g.GetFragmentId())
		}
		return ids, false
	case *pb.Transaction_Rewrite_:
		return replaced(t), false
	}
	return nil, true
}

func appendIDs(ids []uint64, fs []*pb.DataFragment) []uint64 {
	for _, f := range fs {
		ids = append(ids, f.GetId())
	}
	return ids
}

func intersects(a, b []uint64) bool {
	return slices.ContainsFunc(a, func(id uint64) bool { return slices.Contains(b, id) })
}

func covers(indices []*pb.IndexMetadata, ids []uint64) bool {
	for _, i := range indices {
		c, err := CoverageOf(i)
		if err != nil || slices.ContainsFunc(ids, c.Has) {
			return true
		}
	}
	return false
}

func sameIndices(mine, theirs *pb.Transaction_CreateIndex) bool {
	names := func(is []*pb.IndexMetadata) (n []string) {
		for _, i := range is {
			n = append(n, i.GetName())
		}
		return n
	}
	uuids := func(is []*pb.IndexMetadata) (n []string) {
		for _, i := range is {
			n = append(n, string(i.GetUuid().GetUuid()))
		}
		return n
	}
	meet := func(a, b []string) bool {
		return slices.ContainsFunc(a, func(s string) bool { return slices.Contains(b, s) })
	}
	mn, tn := names(mine.GetNewIndices()), names(theirs.GetNewIndices())
	mr, tr := names(mine.GetRemovedIndices()), names(theirs.GetRemovedIndices())
	return meet(mn, tn) || meet(mn, tr) || meet(mr, tn) || meet(uuids(mine.GetRemovedIndices()), uuids(theirs.GetRemovedIndices()))
}

func writesIndexed(mine *pb.Transaction_CreateIndex, theirs *pb.Transaction) bool {
	var wrote []int32
	for _, f := range theirs.GetUpdate().GetFieldsModified() {
		wrote = append(wrote, int32(f))
	}
	for _, g := range theirs.GetDataReplacement().GetReplacements() {
		wrote = append(wrote, g.GetNewFile().GetFields()...)
	}
	for _, i := range mine.GetNewIndices() {
		if slices.ContainsFunc(i.GetFields(), func(f int32) bool { return slices.Contains(wrote, f) }) {
			return true
		}
	}
	return false
}
