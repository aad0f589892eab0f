package compact

// progress tells that bytes of the sources are done with.
func (k *task) progress(bytes int64) {
	k.counting.Lock()
	defer k.counting.Unlock()
	k.credit(min(k.credited+bytes, k.Bytes)) // it is estimated
	k.report()
}

// credit sets how many bytes of the sources are done with, and rows as their share.
func (k *task) credit(bytes int64) {
	rows := scale(k.Rows, bytes, k.Bytes)
	k.prog.BytesDone += bytes - k.credited
	k.prog.RowsDone += rows - k.creditedRows
	k.credited, k.creditedRows = bytes, rows
}

// settle corrects the estimate when all bytes of the sources are done with. Where a task has failed, what it did adds to
// what there is to do, and the task itself is left for the next plan: progress never goes back.
func (k *task) settle(done bool) {
	if done {
		k.credit(k.Bytes)
	} else {
		k.prog.Bytes += k.credited - k.Bytes
		k.prog.Rows += k.creditedRows - k.Rows
	}
	k.report()
	k.credited, k.creditedRows = 0, 0
}
