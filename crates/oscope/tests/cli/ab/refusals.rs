//! Refusals, before which nothing runs.

use super::lines;
use crate::common::Place;
use std::fs;
use std::os::unix::fs::symlink;

#[test]
fn a_comparison_that_cannot_work_is_refused_before_a_command_runs() {
    let mut place = Place::new();
    let file = place.file("file", "mine");
    symlink(&file, place.path("link")).expect("a link");
    place.pipe("pipe");
    let setup = format!("ab -r 2 --setup 'echo >> {}'", place.name("log"));
    let same = place.name("./file");
    check!(place => "
        {setup} true ''                                 | 2 | 2> command 2 is empty
        {setup} -N true \"'true\"                       | 2 | 2> a quote is open
        {setup} true true -n a -n b -n c                | 2 | 2> --name is there 3 times for 2
        {setup} a b c -p 1 -p 2                         | 2 | 2> --prepare is there 2 times for 3
        {setup} a --dir $ --dir $                       | 2 | 2> --dir is there 2 times for 1 command:
        {setup} --parameter c=true, {{c}}               | 2 | 2> command 2 is empty
        {setup} true true -n ''                         | 2 | 2> a name of `--name` is empty
        {setup} true true --budget 0.1s                 | 2 | 2> less than 1 s
        ab true true --runs 0                           | 2 | 2> 0
        {setup} --parameter a=1 --parameter a=3 'echo {{a}}' | 2 | 2> given twice
        {setup} --parameter a=1,2 'echo {{b}}' | 2 | 2> no command uses the parameter 'a'
        {setup} cat cat --input /nonexistent            | 1 | 2> cannot read /nonexistent
        {setup} cat cat --input - | 2 | 2> standard input cannot be read by each run
        {setup} cat cat --input /                       | 2 | 2> cannot be read by each run
        {setup} cat cat --input $pipe                   | 2 | 2> cannot be read by each run
        {setup} cat cat --output $file                  | 1 | 2> --force
        {setup} cat cat --export-json $file             | 1 | 2> --force
        {setup} cat cat --export-csv /nonexistent/x     | 1 | 2> cannot write
        {setup} cat cat --json --export-csv -           | 2 | 2> `--json` writes to standard
        {setup} cat cat --export-json - --export-csv /dev/stdout             | 2 | 2> same file
        {setup} cat cat --force --input $file --output {same}                | 2 | 2> same file
        {setup} cat cat --force --export-json $file --export-csv {same}      | 2 | 2> same file
        {setup} cat cat --force --export-json $file --export-csv $link       | 2 | 2> same file
    ");
    assert!(!place.path("log").exists() && !place.store.exists());
    check!(place => "{setup} cat cat --output $pipe | 1 | 2> no program reads the pipe");
    place.store = place.path("nowhere/oscope.db");
    check!(place => "{setup} cat cat | 1 | 2> nowhere");
    assert!(!place.path("log").exists());
    assert_eq!(place.read("file"), "mine");
}

#[test]
fn nothing_begins_for_which_there_is_no_time() {
    let place = Place::new();
    let log = place.path("log");
    let compare = format!("ab --budget 1s --prepare 'echo >> {}'", log.display());
    // The first warm-up, or the first run, shows that one run of each takes longer.
    for warmup in [1, 0] {
        fs::remove_file(&log).ok();
        check!(place => "
            {compare} -w {warmup} 'sleep 1.2' 'sleep 1.2' | 2 | > | 2> the time is too short
        ");
        assert_eq!(lines(&log), 1);
    }
    check!(place => "
        {compare} -r 1000 'sleep 0.1' 'sleep 0.1' | 0 | 2> at most 
            | > of 1000 runs of each command; a longer `--budget`
    ");
}
