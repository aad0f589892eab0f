// Package compact merges small neighbouring fragments into few of the size that
// the table's keeper asks for, without their deleted rows.
//
// MakePlan is pure: facts about the fragments in; tasks, and a reason for every
// fragment that stays as it is, out. Run carries a plan out, one commit for
// each task, and goes on until planning again finds nothing.
//
// # What a plan promises
//
// Fragments that are small by rows and by bytes, or of which many rows are deleted, are merged with neighbours of the kind;
// runs of them are cut into tasks, and tasks into new fragments, by rows and by bytes (see Policy). What a table says itself in its config
// comes before what is asked for, unless that is fixed. A task leaves fewer fragments than it takes, or the same
// rows without deleted ones, so that planning comes to an end under every policy, whatever the new files turn out to
// take; and if they take what was planned, no two neighbours that it makes would be merged again.
//
// # How rows move
//
// For each column of each new file, and each fragment that goes into it, it is decided how the rows get
// there. Where the new file can hold the pages of the old one they are copied: positions and priorities
// are made anew and every byte of a page stays as it was. Where it can't, for rows that are deleted, or columns
// that some of the fragments don't have or have otherwise, rows are decoded batch by batch and encoded
// anew; the bytes of blobs are copied to the new file or to files beside it. Columns are matched by
// field id, never by name or place. Memory is bounded by a copy
// buffer and by what encoders hold, and what can't be merged either way is left alone.
//
// # What holds at any moment
//
//   - A task is committed whole or not at all, against the version that it read: a
//     delete or update of its fragments that came in between makes it start over.
//   - Its output is journalled before its first byte, and removed when its
//     commit has certainly failed.
//   - Where Options.Pin is set, whatever a task reads belongs to a version that is pinned: a
//     fragment that has got other files since is planned anew.
//   - Rows keep their order within a task, their stable ids and their versions. A
//     task's rows come where its new fragment ids sort, as in Lance.
package compact
