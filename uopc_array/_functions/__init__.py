"""One description per public function, a file per subject; `describe` says what follows from one."""
