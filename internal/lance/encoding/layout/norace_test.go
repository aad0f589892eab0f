//go:build !race

package layout

const raceDetector = false
