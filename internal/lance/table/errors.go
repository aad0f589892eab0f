package table

import "errors"

// Errors by what the caller does next. They wrap, and are wrapped; test with errors.Is.
var (
	// ErrNoTable is returned by Open when the directory holds no version.
	ErrNoTable = errors.New("no Lance table here")

	// ErrRefused is returned when a table, or one version of it, uses something
	// that this build does not understand or does not support: leave it alone
	// and tell the operator why. Nothing was changed.
	ErrRefused = errors.New("refused")

	// ErrCorrupt is returned when stored bytes contradict the format. The text
	// names the object and what was found.
	ErrCorrupt = errors.New("corrupt")

	// ErrConflict is returned by Commit when another commit made this one
	// pointless: plan again on the newest version. It is certain that nothing
	// was committed.
	ErrConflict = errors.New("conflict")

	// ErrContended is returned by Commit when other writers won every attempt.
	// It is certain that nothing was committed; a later run may succeed.
	ErrContended = errors.New("other writers won every attempt")
)
