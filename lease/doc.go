// Package lease keeps a version of a table from being cleaned up while somebody
// reads it. It does so by a Lance tag, which every cleanup of Lance, of this
// module and of SeaweedFS's vector server leaves alone, in a directory as on a cluster.
//
//	leases := lease.New(lease.Options{})
//	defer leases.Close(ctx)
//	…
//	l, err := leases.Take(ctx, table)
//	if err != nil { … }
//	defer l.Release()
//
// # What a lease promises
//
// Take returns when the tag is there and the storage, asked again after that,
// still has the version's manifest: the very object that was opened, not one that
// took its name in a table made anew. From then on no cleanup that begins
// takes the version's files. One that had looked at the tags before can; this
// module's own looks at them again and puts the version back, Lance's does not.
//
// All holders of a version share one tag: the same location, version and ETag of
// its manifest. Only the first looks whether the version is there; a tag that people remove while it is in use
// protects nobody any more. It goes 10 s after the last of them released it. A holder that
// comes more than 5 minutes after a tag was made gets a new one, so that the age
// of a tag in use says how long its oldest reader has been at work.
//
// Where the caller may read but not write, Take returns a Lease that is not
// Pinned: a read goes on without protection, as it would without this package.
//
// # Tags that are left behind
//
// The names say whose they are and since when:
//
//	seaweed-lance-lease_vm-3-5f0c91aa_20261130T195026Z_3d9f40c21b7a65e8
//
// A process that dies leaves its tags. Whoever takes a new lease on the table
// removes those that are a day old, SeaweedFS's vector server's (weed-vector-query-…)
// among them; its own that it could not remove, after an
// hour, but none that is held. So a read of more than a day should take its
// lease anew now and then. Tags of other names are not touched.
//
// While a lease is held, Lance's cleanup of that version fails by default, as it
// does for any tag: error_if_tagged_old_versions=False makes it skip the version.
package lease
