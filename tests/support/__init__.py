"""What tests share: strategies that make inputs, and validators that judge outputs on their own."""
