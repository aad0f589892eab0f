// Package cleanup removes versions that are due, the files that only they
// name, and what nobody will ever name: files left behind by writers that died.
//
// # What goes
//
// A version goes when it is older than the policy retains and not among the
// newest that it keeps, and the table itself, by its config for Lance's own cleanup, does not ask for more to be kept; unless a tag names it or a branch starts at it. The
// newest version never goes. Tags whose holders are known to have died are removed
// first, and hold on to nothing. A file goes when
//
//   - versions that go name it, and none that stays; or
//   - no version names it and it is seven days old, so that no writer is still
//     about to commit it; or
//   - the journal of a rewrite names it, no version does, and the newest version
//     no longer holds what the rewrite was to replace.
//
// Versions that stay include those of all branches and the detached ones. Files
// of other bases, below tree/, of directories and kinds that Lance does not
// make: none of them is even looked at.
//
// # In which order
//
// A version leaves before its files. For each batch of versions: what will go is
// journalled, manifests included; the manifests are deleted; tags, branches and
// new versions are looked at again, and a version that was named meanwhile is published
// again as it was; the files are deleted; then the journal. A crash leaves
// files too many, never a version with files too few, and the next run finishes
// the journal.
//
// A manifest that can't be read, or that says something this build does not
// understand, ends a run before it removes anything.
package cleanup
