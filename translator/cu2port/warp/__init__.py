"""What integers mean in device code: lanes, warps, threads, masks of lanes, or plain numbers."""
