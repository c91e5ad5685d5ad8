"""What words begin as."""
