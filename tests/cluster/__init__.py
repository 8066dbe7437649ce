"""Tests of builds on several machines, which are processes of one machine here."""
