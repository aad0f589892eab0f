// Package matrix compares what this module reads with what real Lance reads: values bit
// for bit, in full scans and in ranges of rows, whatever the batches. Only tests use it.
//
// Want is what must be read: an Arrow stream that Lance's own reader, or the
// generator of the values, left beside a table. Check scans the table and compares.
package matrix
