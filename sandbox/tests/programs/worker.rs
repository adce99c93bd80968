//! Worker and keeper for the tests of this crate: what `wildgym worker` and `wildgym
//! keeper` are in the program.

fn main() -> std::io::Result<()> {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().is_some_and(|mode| mode == "keeper") {
        let (Some(errors), Some(program)) = (arguments.next(), arguments.next()) else {
            return Err(std::io::ErrorKind::InvalidInput.into());
        };
        let rest: Vec<_> = arguments.collect();
        return wildgym_sandbox::browser::keep(errors.as_ref(), &program, &rest);
    }
    wildgym_sandbox::worker::serve()
}
