// Package lanceworker is the Lance maintenance of SeaweedFS's plugin worker:
// the job types lance_compact and lance_cleanup_versions, from admin's request
// to the bytes on the volume servers.
//
// # In a weed
//
// A blank import registers the job types with weed's pluginworker registry, so
// that `weed worker` and the worker inside `weed mini` serve them:
//
//	import _ "github.com/seaweedfs/seaweed-lance/lanceworker"
//
// lance_compact is in the category "heavy", since it moves data;
// lance_cleanup_versions, which lists and deletes, in "default". Both are in
// "all". The package does not import weed/command, so that weed may import it.
//
// When SIGTERM arrives, jobs of registered handlers are stopped and given
// [StopGrace] to remove what they had written. In `weed mini` the process waits
// for that by itself. `weed worker` ends its process as soon as its run
// function returns, and nothing that a handler can reach is waited for there:
// whoever builds a weed calls [Shutdown] between the two, as the package
// weedcmd does.
//
// # Elsewhere
//
// [Handlers] gives the same handlers to another program, with nothing global:
//
//	jobs := new(lanceworker.Jobs)
//	handlers, err := lanceworker.Handlers(lanceworker.Options{Jobs: jobs})
//	…
//	grace.OnInterrupt(func() { jobs.Stop(ctx) })
//
// The last line is weed/util/grace, which everything that links weed's plugin
// worker contains: it ends the program on SIGTERM after its hooks, and without
// waiting for anything else.
//
// # What a detection promises
//
//   - A table is proposed when a job would change it now, never for a threshold
//     alone.
//   - What did not fit into max_results, or into the time that admin gives a
//     detection, comes first next time. Where that is, is kept in memory: after a
//     restart a sweep begins at the first table.
//   - A table that can't be read is skipped, counted in objects_skipped_total
//     under the class of its reason, named with the reason among the
//     detection's activities, and in the log once for each change of reason. It
//     is looked at again after a minute, then two, four and so on up to an hour.
//     A table whose job failed is proposed again in the same rhythm. The
//     reckoning is this worker's own: another worker keeps its own.
//   - A table that was declared but never written is nobody's problem and left
//     out silently.
//   - The listing failing, or every table failing, fails the detection.
//
// # What admin shows
//
// Each table that a detection could open, proposed or not, is described to admin: rows,
// fragments, versions, schema. Admin's page of the table shows that, and with it asks for
// the table's first rows, at most 200, which are read when somebody looks. Weed's worker carries
// neither, so there is a second stream to admin (see the package internal/companion) under the
// worker's id with "-lance" behind it; where the sender of a detection takes observations itself,
// it gets them. A handler is not told where admin is: [Options.Admin] says so, or
// [ReachAdmin], which the package weedcmd uses, or the environment variable
// SEAWEED_LANCE_ADMIN. Without any of them one line in the log says so, and all else works.
//
// # What an execution promises
//
// The table is looked up and planned afresh. A run that finds another one at
// work on the same table leaves that part to it, ends well and says so. Errors
// carry the whole chain of causes, with what had been done before as output.
package lanceworker
