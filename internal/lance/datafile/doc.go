// Package datafile reads and writes the container of a Lance 2.x file, in which
// columns are stored as pages of buffers. What the buffers mean is not known here.
//
//	page buffers, at multiples of 64
//	user global buffers
//	global buffer 0: FileDescriptor {schema, rows}
//	column metadata: one ColumnMetadata for each column
//	column table:    for each column   u64 position, u64 size of its metadata
//	buffer table:    for each global buffer   u64 position, u64 size
//	footer (40 bytes):
//	  u64 position of the column metadata
//	  u64 position of the column table
//	  u64 position of the buffer table
//	  u32 global buffers · u32 columns
//	  u16 major · u16 minor · "LANC"
//
// Integers are little-endian and positions count from the start of the file. A
// 2.0 file says 0.3, or 2.0 when an embedded writer made it.
package datafile
