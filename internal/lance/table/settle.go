package table

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

// settle makes sure that the version just created belongs to the table's
// history. Between finding the newest version and creating the next, others may
// have made that number and more, and a cleanup may have removed it again; then
// the create succeeds below versions that know nothing of it. Such a manifest is
// taken away, and the commit has not happened.
func (c *commit) settle(ctx context.Context, version uint64, ours *pb.Manifest) error {
	var err error
	for range storeAttempts {
		var there []VersionRef
		if there, err = versionsAbove(ctx, c.base.store, c.base.naming, version-2); err != nil {
			if ctx.Err() != nil {
				break
			}
			continue
		}
		// Our number can only have been free although it was used before when
		// what it follows had been cleaned away as well.
		headThere := len(there) > 0 && there[0].Version == version-1
		above := slices.DeleteFunc(there, func(r VersionRef) bool { return r.Version <= version })
		if len(above) == 0 {
			return nil
		}
		var next *Table
		if next, err = openRef(ctx, c.base.store, above[0], c.base.naming); err != nil {
			if errors.Is(err, objects.ErrNotFound) {
				continue // cleaned meanwhile: look again
			}
			break
		}
		var theirs *pb.Transaction
		if theirs, err = next.Transaction(ctx); err != nil && !errors.Is(err, ErrCorrupt) {
			continue
		}
		if builtOn(next, theirs, ours, c.txn, headThere) {
			return nil
		}
		return c.withdraw(ctx, version, above[0].Version)
	}
	return fmt.Errorf("version %d was created, but whether later versions hold it could not be seen: %w: %v", version, objects.ErrUnknown, err)
}

// passed looks at the versions above one that was taken when we wanted to create
// it and has been cleaned away since. It returns nil when none of them has
// anything of our commit: then it was another's, and ours has not happened.
func (c *commit) passed(ctx context.Context, version uint64) error {
	there, err := versionsAbove(ctx, c.base.store, c.base.naming, version)
	if err != nil {
		return err
	}
	if len(there) == 0 {
		return fmt.Errorf("version %d is gone, and nothing has come after it", version)
	}
	rw := c.txn.GetRewrite()
	if rw == nil {
		return nil // ids may be reserved twice
	}
	for _, ref := range there {
		t, err := openRef(ctx, c.base.store, ref, c.base.naming)
		if err != nil {
			return err
		}
		theirs, err := t.Transaction(ctx)
		if err != nil && !errors.Is(err, ErrCorrupt) {
			return err
		}
		if holdsRewrite(t, theirs, rw, true) {
			return fmt.Errorf("version %d is gone, and version %d may hold what it did", version, ref.Version)
		}
	}
	return nil
}

// builtOn tells whether a later version has our commit in its history. It
// looks for what every release takes over from the version that it builds on: a
// rewrite's files, a reservation's ids. Where the later version would look the
// same without our commit, it is taken to be there as long as the version below it
// is. In doubt the answer is no, which costs one version of the history and
// nothing else.
func builtOn(later *Table, theirs *pb.Transaction, ours *pb.Manifest, txn *pb.Transaction, headThere bool) bool {
	ourTop, _ := maxFragmentID(ours)
	laterTop, _ := later.MaxFragmentID()
	if laterTop < ourTop {
		return false // a lifetime mark that never falls
	}
	if txn.GetRewrite() != nil {
		return holdsRewrite(later, theirs, txn.GetRewrite(), headThere)
	}
	// Nobody but us may use an id that we reserved, and the mark has moved on
	// from where we left it by just what they took.
	bottom := ourTop - uint64(txn.GetReserveFragments().GetNumFragments())
	for _, f := range later.Fragments() {
		if f.GetId() > bottom && f.GetId() <= ourTop {
			return false
		}
	}
	return headThere && (theirs == nil || laterTop == ourTop+assigned(theirs))
}

// holdsRewrite looks for the fragments of a rewrite, or for what took them away again.
func holdsRewrite(later *Table, theirs *pb.Transaction, rw *pb.Transaction_Rewrite, headThere bool) bool {
	files := make(map[string]bool)
	var added, gone []uint64
	for _, g := range rw.GetGroups() {
		for _, f := range g.GetNewFragments() {
			for _, d := range f.GetFiles() {
				files[d.GetPath()] = true
			}
		}
		added = appendIDs(added, g.GetNewFragments())
		gone = appendIDs(gone, g.GetOldFragments())
	}
	for _, f := range later.Fragments() {
		for _, d := range f.GetFiles() {
			if files[d.GetPath()] {
				return true
			}
		}
		if slices.Contains(gone, f.GetId()) {
			return false
		}
	}
	switch kindOf(theirs) {
	case opOverwrite, opRestore: // whatever was there before, it is not any more
		return headThere
	case opDelete, opUpdate, opRewrite:
		ids, _ := touched(theirs)
		return intersects(ids, added)
	}
	return false
}

// assigned counts the fragment ids that a commit takes from above the mark.
func assigned(t *pb.Transaction) uint64 {
	unnamed := func(fs []*pb.DataFragment) (n uint64) {
		for _, f := range fs {
			if f.GetId() == 0 {
				n++
			}
		}
		return n
	}
	switch op := t.GetOperation().(type) {
	case *pb.Transaction_Append_:
		return uint64(len(op.Append.GetFragments()))
	case *pb.Transaction_Overwrite_:
		return uint64(len(op.Overwrite.GetFragments()))
	case *pb.Transaction_Update_:
		return uint64(len(op.Update.GetNewFragments()))
	case *pb.Transaction_ReserveFragments_:
		return uint64(op.ReserveFragments.GetNumFragments())
	case *pb.Transaction_Rewrite_:
		var n uint64
		for _, g := range op.Rewrite.GetGroups() {
			n += unnamed(g.GetNewFragments())
		}
		return n
	}
	return 0
}

// withdraw removes our manifest from below versions that don't know it.
func (c *commit) withdraw(ctx context.Context, version, newest uint64) error {
	name := c.base.naming.ManifestName(version)
	mine, err := c.isMine(ctx, version)
	if err == nil && mine {
		err = c.base.store.Delete(ctx, name)
	}
	if err != nil && !errors.Is(err, objects.ErrNotFound) {
		return fmt.Errorf("version %d was created below version %d, which does not hold it, and could not be withdrawn: %w: %v", version, newest, objects.ErrUnknown, err)
	}
	return fmt.Errorf("%w: version %d was there before version %d could be made", ErrConflict, newest, version)
}
