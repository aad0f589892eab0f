package table

import (
	"errors"
	"slices"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

// bitmapOf encodes a fragment bitmap.
func bitmapOf(t testing.TB, ids ...uint32) []byte {
	t.Helper()
	b, err := roaring.BitmapOf(ids...).ToBytes()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func fragmentsOf(ids ...uint64) (fs []*pb.DataFragment) {
	for _, id := range ids {
		fs = append(fs, &pb.DataFragment{Id: id})
	}
	return fs
}

// theirs are operations that another writer may have committed, each with what
// the format says about it for a Rewrite of fragments 1 and 2, for a CreateIndex
// of "mine" on field 5, covering 1 and 2, and for a ReserveFragments.
func theirs(t *testing.T) []conflictCase {
	rewrite := func(old ...uint64) *pb.Transaction {
		return &pb.Transaction{Operation: &pb.Transaction_Rewrite_{Rewrite: &pb.Transaction_Rewrite{Groups: []*pb.Transaction_Rewrite_Group{
			{OldFragments: fragmentsOf(old...), NewFragments: fragmentsOf(90)}}}}}
	}
	index := func(x *pb.IndexMetadata, removed ...*pb.IndexMetadata) *pb.Transaction {
		c := &pb.Transaction_CreateIndex{RemovedIndices: removed}
		if x != nil {
			c.NewIndices = append(c.NewIndices, x)
		}
		return &pb.Transaction{Operation: &pb.Transaction_CreateIndex_{CreateIndex: c}}
	}
	del := func(x *pb.Transaction_Delete) *pb.Transaction {
		return &pb.Transaction{Operation: &pb.Transaction_Delete_{Delete: x}}
	}
	update := func(x *pb.Transaction_Update) *pb.Transaction {
		return &pb.Transaction{Operation: &pb.Transaction_Update_{Update: x}}
	}
	replace := func(fragment uint64, fields ...int32) *pb.Transaction {
		return &pb.Transaction{Operation: &pb.Transaction_DataReplacement_{DataReplacement: &pb.Transaction_DataReplacement{
			Replacements: []*pb.Transaction_DataReplacement_Group{{FragmentId: fragment, NewFile: &pb.DataFile{Fields: fields}}}}}}
	}
	uuid := func(b byte) *pb.UUID { return &pb.UUID{Uuid: slices.Repeat([]byte{b}, 16)} }
	unknownOp := &pb.Transaction{}
	unknownOp.ProtoReflect().SetUnknown(protowire.AppendBytes(protowire.AppendTag(nil, 150, protowire.BytesType), nil))
	const ok, no = true, false
	return []conflictCase{
		{"append", &pb.Transaction{Operation: &pb.Transaction_Append_{}}, ok, ok, ok},
		{"reserve", &pb.Transaction{Operation: &pb.Transaction_ReserveFragments_{}}, ok, ok, ok},
		// The format lets an index pass as long as its fields remain, which
		// nothing here looks at: retrying is the careful answer.
		{"project", &pb.Transaction{Operation: &pb.Transaction_Project_{}}, ok, no, ok},
		{"merge", &pb.Transaction{Operation: &pb.Transaction_Merge_{}}, no, no, ok},
		{"clone", &pb.Transaction{Operation: &pb.Transaction_Clone_{}}, ok, ok, ok},
		{"config", &pb.Transaction{Operation: &pb.Transaction_UpdateConfig_{}}, ok, ok, ok},
		{"bases", &pb.Transaction{Operation: &pb.Transaction_UpdateBases_{}}, ok, ok, ok},
		{"mem-wal", &pb.Transaction{Operation: &pb.Transaction_UpdateMemWalState_{}}, ok, no, ok},
		{"overwrite", &pb.Transaction{Operation: &pb.Transaction_Overwrite_{}}, no, no, no},
		{"restore", &pb.Transaction{Operation: &pb.Transaction_Restore_{}}, no, no, no},
		{"overlay, which does not say where", &pb.Transaction{Operation: &pb.Transaction_DataOverlay_{}}, no, no, ok},
		{"unknown operation", unknownOp, no, no, no},
		{"no transaction at all", nil, no, no, no},

		{"delete elsewhere", del(&pb.Transaction_Delete{UpdatedFragments: fragmentsOf(3), DeletedFragmentIds: []uint64{4}}), ok, ok, ok},
		{"delete in mine", del(&pb.Transaction_Delete{UpdatedFragments: fragmentsOf(3, 2)}), no, ok, ok},
		{"delete of mine", del(&pb.Transaction_Delete{DeletedFragmentIds: []uint64{1}}), no, ok, ok},
		{"update elsewhere", update(&pb.Transaction_Update{RemovedFragmentIds: []uint64{4}, UpdatedFragments: fragmentsOf(3), NewFragments: fragmentsOf(0)}), ok, ok, ok},
		{"update in mine", update(&pb.Transaction_Update{UpdatedFragments: fragmentsOf(1)}), no, ok, ok},
		{"update of mine", update(&pb.Transaction_Update{RemovedFragmentIds: []uint64{2}}), no, ok, ok},
		{"update of an indexed field", update(&pb.Transaction_Update{UpdatedFragments: fragmentsOf(3), FieldsModified: []uint32{4, 5}}), ok, no, ok},
		{"update of another field", update(&pb.Transaction_Update{UpdatedFragments: fragmentsOf(3), FieldsModified: []uint32{6}}), ok, ok, ok},
		{"replacement elsewhere", replace(3, 6), ok, ok, ok},
		{"replacement in mine", replace(1, 6), no, ok, ok},
		{"replacement of an indexed field", replace(3, 5), ok, no, ok},

		{"rewrite elsewhere", rewrite(3, 4), ok, ok, ok},
		{"rewrite of mine", rewrite(0, 1), no, no, ok},
		{"rewrite in the old form", &pb.Transaction{Operation: &pb.Transaction_Rewrite_{Rewrite: &pb.Transaction_Rewrite{OldFragments: fragmentsOf(2)}}}, no, no, ok},

		{"index elsewhere", index(&pb.IndexMetadata{Name: "a", FragmentBitmap: bitmapOf(t, 3, 4)}), ok, ok, ok},
		{"index over mine", index(&pb.IndexMetadata{Name: "a", FragmentBitmap: bitmapOf(t, 2, 4)}), no, ok, ok},
		{"index over nothing", index(&pb.IndexMetadata{Name: "a", FragmentBitmap: bitmapOf(t)}), ok, ok, ok},
		{"index that does not say", index(&pb.IndexMetadata{Name: "a"}), no, ok, ok},
		{"index with a broken bitmap", index(&pb.IndexMetadata{Name: "a", FragmentBitmap: []byte{1, 2, 3}}), no, ok, ok},
		{"write-ahead log's entry", index(&pb.IndexMetadata{Name: MemWALIndex}), ok, ok, ok},
		{"fragment reuse index", index(&pb.IndexMetadata{Name: FragmentReuseIndex}), no, ok, ok},
		{"index dropped", index(nil, &pb.IndexMetadata{Name: "a"}), ok, ok, ok},
		{"index of my name", index(&pb.IndexMetadata{Name: "mine", FragmentBitmap: bitmapOf(t, 8)}), ok, no, ok},
		{"index of my name dropped", index(nil, &pb.IndexMetadata{Name: "mine"}), ok, no, ok},
		{"segment that I remove is gone", index(nil, &pb.IndexMetadata{Name: "b", Uuid: uuid(7)}), ok, no, ok},
		{"index of the name that I remove", index(&pb.IndexMetadata{Name: "old", FragmentBitmap: bitmapOf(t, 8)}), ok, no, ok},
	}
}

type conflictCase struct {
	name                            string
	txn                             *pb.Transaction
	rewrite, createIndex, reserving bool
}

func TestConflicts(t *testing.T) {
	mine := map[string]*pb.Transaction{
		"rewrite": {Operation: &pb.Transaction_Rewrite_{Rewrite: &pb.Transaction_Rewrite{Groups: []*pb.Transaction_Rewrite_Group{
			{OldFragments: fragmentsOf(1)}, {OldFragments: fragmentsOf(2)}}}}},
		"create index": {Operation: &pb.Transaction_CreateIndex_{CreateIndex: &pb.Transaction_CreateIndex{
			NewIndices:     []*pb.IndexMetadata{{Name: "mine", Fields: []int32{5}, FragmentBitmap: bitmapOf(t, 1, 2)}},
			RemovedIndices: []*pb.IndexMetadata{{Name: "old", Uuid: &pb.UUID{Uuid: slices.Repeat([]byte{7}, 16)}}},
		}}},
		"reserve": {Operation: &pb.Transaction_ReserveFragments_{}},
	}
	seen := make(map[operation]bool)
	for _, tt := range theirs(t) {
		seen[kindOf(tt.txn)] = true
		for name, want := range map[string]bool{"rewrite": tt.rewrite, "create index": tt.createIndex, "reserve": tt.reserving} {
			err := checkConflict(mine[name], tt.txn, 17)
			if (err == nil) != want || err != nil && !errors.Is(err, ErrConflict) {
				t.Errorf("mine is a %s, theirs %s: error %v", name, tt.name, err)
			}
			if err != nil {
				says(t, err, "17")
			}
		}
	}
	for op := range conflictRules[opRewrite] {
		if !seen[op] {
			t.Errorf("no case for %s", op)
		}
	}
	// What this build does not commit conflicts with everything.
	for _, tt := range theirs(t) {
		if err := checkConflict(&pb.Transaction{Operation: &pb.Transaction_Append_{}}, tt.txn, 1); !errors.Is(err, ErrConflict) {
			t.Errorf("mine is an append, theirs %s: error %v", tt.name, err)
		}
	}
}

// The rules name every operation that there is, for each that this build commits.
func TestConflictRulesAreComplete(t *testing.T) {
	all := []operation{opAppend, opDelete, opOverwrite, opCreateIndex, opRewrite, opMerge, opRestore, opReserve, opUpdate, opProject,
		opUpdateConfig, opDataReplacement, opUpdateMemWAL, opClone, opUpdateBases, opDataOverlay}
	for mine, rules := range conflictRules {
		for _, op := range all {
			if _, ok := rules[op]; !ok {
				t.Errorf("mine is a %s: no rule for %s", mine, op)
			}
		}
		if len(rules) != len(all) {
			t.Errorf("mine is a %s: %d rules for %d operations", mine, len(rules), len(all))
		}
	}
}

func TestCoverage(t *testing.T) {
	runs := roaring.New()
	runs.AddRange(0, 100000)
	runs.RunOptimize()
	raw, err := runs.ToBytes()
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name    string
		i       *pb.IndexMetadata
		has     []uint64
		hasNot  []uint64
		unknown bool
	}{
		{"some", &pb.IndexMetadata{FragmentBitmap: bitmapOf(t, 0, 5)}, []uint64{0, 5}, []uint64{1, 1 << 32, 1<<32 + 5}, false},
		{"runs", &pb.IndexMetadata{FragmentBitmap: raw}, []uint64{0, 99999}, []uint64{100000}, false},
		{"nothing", &pb.IndexMetadata{FragmentBitmap: bitmapOf(t)}, nil, []uint64{0}, false},
		{"not said", &pb.IndexMetadata{}, []uint64{0, 1 << 40}, nil, true},
		{"write-ahead log", &pb.IndexMetadata{Name: MemWALIndex}, nil, []uint64{0}, false},
	}
	for _, tt := range tests {
		c, err := CoverageOf(tt.i)
		if err != nil || c.Unknown != tt.unknown {
			t.Errorf("%s: unknown %t, error %v", tt.name, c.Unknown, err)
			continue
		}
		for _, id := range tt.has {
			if !c.Has(id) {
				t.Errorf("%s: has not %d", tt.name, id)
			}
		}
		for _, id := range tt.hasNot {
			if c.Has(id) {
				t.Errorf("%s: has %d", tt.name, id)
			}
		}
	}
	_, err = CoverageOf(&pb.IndexMetadata{Name: "idx", FragmentBitmap: []byte{0x3a, 0x30, 0, 0, 9}})
	if !errors.Is(err, ErrCorrupt) {
		t.Errorf("a broken bitmap: error %v", err)
	}
	says(t, err, "idx")
	if !IsSystemIndex(&pb.IndexMetadata{Name: MemWALIndex}) || IsSystemIndex(&pb.IndexMetadata{Name: "lance_idx"}) {
		t.Error("system indices")
	}
}

// Real bitmaps, as Lance writes them.
func TestCoverageOfFixtures(t *testing.T) {
	for _, tab := range pick(t, 100, "an index", func(t *Table) bool { return len(t.Indices()) > 0 }) {
		for _, i := range tab.Indices() {
			c, err := CoverageOf(i)
			if err != nil || c.Unknown {
				t.Errorf("%s, index %s: unknown %t, error %v", tab.Ref().Name, i.GetName(), c.Unknown, err)
				continue
			}
			n := 0
			for _, f := range tab.Fragments() {
				if c.Has(f.GetId()) {
					n++
				}
			}
			if n == 0 {
				t.Errorf("%s, index %s: covers none of %s", tab.Ref().Name, i.GetName(), ids(tab))
			}
		}
	}
}
