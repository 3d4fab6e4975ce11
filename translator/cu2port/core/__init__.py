"""The words that every room uses: edits, findings, records, files read and written, text made safe."""
