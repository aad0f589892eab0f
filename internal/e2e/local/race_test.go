//go:build race

package local_test

// underRace tells that the race detector looks on.
const underRace = true
