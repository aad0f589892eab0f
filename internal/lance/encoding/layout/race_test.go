//go:build race

package layout

const raceDetector = true
