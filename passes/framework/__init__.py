"""What every pass is built on: declaration, options, pipelines, registry, instrumentation."""
