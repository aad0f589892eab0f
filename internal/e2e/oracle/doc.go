// Package oracle asks real Lance: pylance writes the tables that tests
// maintain and judges what maintenance left. Only tests and the generator of
// testdata use it.
//
// A release of pylance runs as one long-lived Python process that answers
// commands, one JSON object a line, so that the second it takes to import is
// paid once. Each release has a virtual environment of its own with pinned
// packages, made on first use and kept in the user's cache directory
// (or in $SEAWEED_LANCE_ORACLES); processes that want the same one at once wait
// for the first. $SEAWEED_LANCE_PYTHON names the interpreter; without it
// python3 from 3.11 on is taken from the path.
//
// Where no environment can be had, Start skips the test with the reason. With
// CI=true in the environment it fails instead: a green run there has asked Lance.
//
// lancedb for Node is another writer, installed by npm beside the environments.
//
//	lance := oracle.Start(t, oracle.Newest)
//	lance.Make(t, "many_appends", dir, oracle.Table{FileVersion: "2.2"})
//	before := lance.Snapshot(t, dir)
//	… maintenance …
//	lance.Check(t, before, oracle.Compacted)
package oracle
