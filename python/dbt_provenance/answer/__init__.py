"""The wing of questions: from words to an evidence envelope."""
