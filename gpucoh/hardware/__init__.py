"""Which protocol explains what GPUs show: the tests that GPUs ran, under every protocol; docs/hardware.md."""
