package dirstore

import "os"

// Moved tells that the directory's path leads elsewhere by now, or nowhere: the directory was
// removed or renamed, and perhaps made again. The store itself stays at what it opened.
func (s *Store) Moved() bool {
	opened, err := s.root.Stat(".")
	if err != nil {
		return true
	}
	there, err := os.Stat(s.path)
	return err != nil || !os.SameFile(opened, there)
}
