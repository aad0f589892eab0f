package table

import (
	"fmt"
	"math"
	"slices"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

// writerLibrary is what manifests name as their writer. Lance looks for its
// own name there to work around bugs of its old releases.
const writerLibrary, writerVersion = "seaweed-lance", "0.1.0"

// apply makes the manifest that a transaction turns head's into. It refuses,
// with ErrConflict, whatever does not fit the head any more; the conflict rules
// have looked at what others said they did, this looks at what is there.
func apply(head *Table, txn *pb.Transaction, now time.Time) (*manifestFile, error) {
	m := proto.CloneOf(head.Manifest())
	m.Version = head.Version() + 1
	m.Timestamp = timestamppb.New(now)
	m.WriterVersion = &pb.Manifest_WriterVersion{Library: writerLibrary, Version: writerVersion}
	// Both belong to one version, not to the table.
	m.Tag, m.VersionAuxData = "", 0
	m.TransactionFile = ""
	var err error
	switch op := txn.GetOperation().(type) {
	case *pb.Transaction_ReserveFragments_:
		err = applyReserve(m, op.ReserveFragments)
	case *pb.Transaction_Rewrite_:
		err = applyRewrite(head, m, op.Rewrite)
	default:
		err = fmt.Errorf("%s: not an operation that this build commits", kindOf(txn))
	}
	if err != nil {
		return nil, err
	}
	setFlags(m)
	raw, err := proto.MarshalOptions{Deterministic: true}.Marshal(txn)
	if err != nil {
		return nil, fmt.Errorf("encoding transaction: %w", err)
	}
	return &manifestFile{manifest: m, indexSection: head.file.indexSection, transaction: raw}, nil
}

func applyReserve(m *pb.Manifest, op *pb.Transaction_ReserveFragments) error {
	top, _ := maxFragmentID(m)
	top += uint64(op.GetNumFragments())
	if top > math.MaxUint32 {
		return fmt.Errorf("%w: the table has used up its fragment ids", ErrRefused)
	}
	m.MaxFragmentId = proto.Uint32(uint32(top))
	return nil
}

func applyRewrite(head *Table, m *pb.Manifest, op *pb.Transaction_Rewrite) error {
	top, _ := maxFragmentID(m)
	frags := m.GetFragments()
	at := make(map[uint64]int, len(frags))
	for i, f := range frags {
		at[f.GetId()] = i
	}
	gone := make(map[uint64]bool)
	var added []*pb.DataFragment
	for _, g := range op.GetGroups() {
		for _, old := range g.GetOldFragments() {
			i, there := at[old.GetId()]
			if !there || gone[old.GetId()] {
				return fmt.Errorf("%w: fragment %d is no longer in version %d", ErrConflict, old.GetId(), head.Version())
			}
			if !proto.Equal(frags[i], old) {
				return fmt.Errorf("%w: fragment %d has changed by version %d", ErrConflict, old.GetId(), head.Version())
			}
			gone[old.GetId()] = true
		}
		for _, f := range g.GetNewFragments() {
			// The id was reserved; when the version that reserved it is not
			// part of this history, somebody else may have it.
			if _, taken := at[f.GetId()]; taken || f.GetId() > top {
				return fmt.Errorf("%w: fragment id %d is not reserved in version %d", ErrConflict, f.GetId(), head.Version())
			}
			added = append(added, proto.CloneOf(f))
		}
	}
	if err := stillUncovered(head, gone); err != nil {
		return err
	}
	frags = slices.DeleteFunc(slices.Clone(frags), func(f *pb.DataFragment) bool { return gone[f.GetId()] })
	m.Fragments = sortedFragments(append(frags, added...))
	return nil
}

// stillUncovered finds an index that describes a fragment which is to go: its
// entries would name rows that are no longer there.
func stillUncovered(head *Table, gone map[uint64]bool) error {
	for _, i := range head.Indices() {
		c, err := CoverageOf(i)
		if err != nil {
			return err
		}
		for id := range gone {
			if c.Has(id) {
				return fmt.Errorf("%w: index %q describes fragment %d by version %d", ErrConflict, i.GetName(), id, head.Version())
			}
		}
	}
	return nil
}
