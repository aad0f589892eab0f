// Package session keeps Lance tables open, and what was read of them, for everything in a process.
//
// A Session is asked for the newest version of a table each time that somebody needs it. It lists one
// entry of the table's _versions to find out whether there is a newer one than it knows; what
// it knows is served from memory:
//
//	s, err := session.New(session.Options{})
//	t, err := s.Open(ctx, session.Directory("/data/vectors.lance"))
//	rows, err := t.Scan(ctx, session.ScanOptions{Columns: []string{"id"}})
//	defer rows.Close()
//	for batch, err := range rows.All(ctx) { … }
//
// # Contract
//
//   - A Table is one version, and stays it: what is opened later, moved or started over does not
//     change it, nor what runs on it.
//   - Open returns a version that was the newest when it was called, or later. Calls for
//     one table that come while one is under way share its answer; that one
//     may have begun a moment earlier.
//   - Nothing of a table that was dropped is served for another one at the same place, whatever
//     versions and file names the two have in common: what is kept is found by the identity
//     of the very object that it was read from.
//   - Where a place is found to hold another table, the Session starts over for it: it forgets
//     what it kept, and what still reads the old table keeps nothing of it any more.
//   - Memory is bounded in bytes by two settings, whatever the tables.
//
// Commits of this module don't read through a Session: each looks at the store.
//
// # How another table is noticed
//
// A table is marked by an id in its schema's metadata (Options.IDKey), which every version
// has from the one before. Another id, or none where there was one, is another table. So is another
// manifest object of the same version; and, where there are no ids, a newer version when the
// manifest of the one that we had is no longer the object that it was. A lower version that
// was the newest before, or could have been by its time, is on a cluster what a filer shows that lags behind: the
// Session stays at the version that it has, for a minute. Any other, and any in a directory, is what is
// there now.
package session
