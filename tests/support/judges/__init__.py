"""The judges behind `support.validators`, one a wire. They know the providers' documents and nothing of Headway."""
